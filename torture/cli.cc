#include "torture/cli.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <list>

#include "torture/parse.h"

namespace sd::torture {

namespace {

// One option of one command, on its way from CLI11 to the option's `set`.
struct Binding {
  const Option* option = nullptr;
  CLI::Option* parsed = nullptr;
  std::vector<std::string> values;
};

struct Node {
  const Command* command = nullptr;
  CLI::App* app = nullptr;
  std::list<Binding> bindings;
  std::list<Node> children;
};

void bind(Node& node, const Option& option) {
  Binding& binding = node.bindings.emplace_back();
  binding.option = &option;
  if (option.value.empty()) {
    binding.parsed = node.app->add_flag(option.name, option.help);
  } else {
    binding.parsed = node.app->add_option(option.name, binding.values, option.help);
    const bool list = option.repeatable && !option.name.starts_with('-');
    binding.parsed->expected(list ? -1 : 1)->type_name(option.value)->allow_extra_args(list);
    binding.parsed->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  if (!option.group.empty()) binding.parsed->group(option.group);
}

// The example, with the program as it was called: it works when pasted.
std::string example_of(const Command& command, const std::string& program) {
  constexpr std::string_view kName = "shootdown ";
  std::string out = command.example;
  for (size_t at = 0; (at = out.find(kName, at)) != std::string::npos; at += program.size() + 1) {
    out.replace(at, kName.size(), program + " ");
  }
  return out;
}

void build(Node& node, const Command& command, const std::string& program) {
  node.command = &command;
  node.app->description(command.summary);
  node.app->footer("\nExample:\n  " + example_of(command, program));
  node.app->get_formatter()->column_width(34);
  node.app->allow_extras();
  for (const Option& option : command.options) bind(node, option);
  for (const Command& child : command.commands) {
    Node& next = node.children.emplace_back();
    next.app = node.app->add_subcommand(child.name, child.summary);
    build(next, child, program);
  }
}

std::string full_name(const CLI::App* app) {
  if (app->get_parent() == nullptr) return "";
  const std::string above = full_name(app->get_parent());
  return above.empty() ? app->get_name() : above + " " + app->get_name();
}

std::string see_help(const CLI::App* app) {
  const std::string name = full_name(app);
  return "; see shootdown " + (name.empty() ? "" : name + " ") + "--help";
}

[[noreturn]] void refuse_extra(const Node& node, const std::string& word) {
  std::vector<std::string> known;
  const bool dashes = word.starts_with('-');
  const std::string bare = word.substr(0, word.find('='));
  for (const Option& option : node.command->options) known.push_back(option.name);
  if (!dashes) {
    known.clear();
    for (const Command& child : node.command->commands) known.push_back(child.name);
  }
  const std::string near = nearest(bare, known);
  const std::string what = dashes                           ? "unknown option "
                           : node.command->commands.empty() ? "unexpected argument "
                                                            : "unknown command ";
  usage_error(what + quote(bare) + (near.empty() ? "" : "; did you mean " + near + "?") +
              see_help(node.app));
}

void apply(const Binding& binding) {
  const Option& option = *binding.option;
  if (option.value.empty()) {
    if (binding.parsed->count() > 0) option.set("");
    return;
  }
  if (binding.values.empty() && option.required) usage_error(option.name + " is missing");
  for (const std::string& value : binding.values) {
    if (option.repeatable || value == binding.values.front()) continue;
    usage_error(option.name + ": given twice, as " + quote(binding.values.front()) + " and as " +
                quote(value));
  }
  for (const std::string& value : binding.values) {
    try {
      option.set(value);
    } catch (const UserError& error) {
      throw UserError(error.code(), option.name + ": " + error.what());
    }
    if (!option.repeatable) return;
  }
}

int run_node(const Node& node) {
  if (const auto extras = node.app->remaining(); !extras.empty())
    refuse_extra(node, extras.front());
  for (const Binding& binding : node.bindings) apply(binding);
  for (const Node& child : node.children) {
    if (child.app->parsed()) return run_node(child);
  }
  if (!node.command->run) {
    std::string names;
    for (const Command& child : node.command->commands) {
      names += (names.empty() ? "" : ", ") + child.name;
    }
    usage_error("a command is missing, one of " + names + see_help(node.app));
  }
  return node.command->run();
}

bool has_option(const Command& command, const std::string& name) {
  return std::any_of(command.options.begin(), command.options.end(),
                     [&](const Option& option) { return option.name == name; });
}

// "--boot-cpus=2" becomes "--boot_cpus=2": to the kernel, '-' and '_' in names are the same.
void rewrite_dashes(const Command& command, std::string* word) {
  const std::string name = word->substr(0, word->find('='));
  if (!name.starts_with("--") || has_option(command, name)) return;
  for (const char from : {'-', '_'}) {
    std::string other = name;
    std::replace(other.begin() + 2, other.end(), from, from == '-' ? '_' : '-');
    if (has_option(command, other)) word->replace(0, name.size(), other);
  }
}

// "scftorture.nthreads=3" becomes "--nthreads=3".
std::vector<std::string> rewrite_kernel_parameters(const Command& program,
                                                   std::vector<std::string> arguments) {
  const Command* command = &program;
  for (std::string& word : arguments) {
    if (word == "--") break;
    for (const Command& child : command->commands) {
      if (child.name == word) {
        command = &child;
        break;
      }
    }
    rewrite_dashes(*command, &word);
    if (!command->kernel_parameter || word.starts_with('-')) continue;
    if (const std::string option = command->kernel_parameter(word); !option.empty()) word = option;
  }
  return arguments;
}

int parse_and_run(const Command& program, const std::string& version,
                  const std::vector<std::string>& arguments) {
  CLI::App app;
  app.name("shootdown");
  app.set_version_flag("--version", version, "Print version, build flavour and compiler");
  Node root;
  root.app = &app;
  build(root, program, program.name);

  std::vector<std::string> words = rewrite_kernel_parameters(program, arguments);
  std::vector<std::string> backwards(words.rbegin(), words.rend());
  try {
    app.parse(backwards);
  } catch (const CLI::Success& success) {  // help and version
    return app.exit(success) == 0 ? exit_clean : exit_usage;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();
    usage_error(text.substr(0, text.find(':')) + ": a value is missing");
  } catch (const CLI::ParseError& error) {
    std::string text = error.what();
    for (char& c : text) c = c == '\n' ? ' ' : c;
    usage_error(text);
  }
  return run_node(root);
}

}  // namespace

int run_command_line(const Command& program, const std::string& version,
                     const std::vector<std::string>& arguments) {
  try {
    return parse_and_run(program, version, arguments);
  } catch (const UserError& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "shootdown: %s\n", error.what());
    return error.code();
  }
}

}  // namespace sd::torture
