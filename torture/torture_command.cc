#include <algorithm>
#include <memory>
#include <random>

#include "torture/commands.h"
#include "torture/console.h"
#include "torture/files.h"
#include "torture/options.h"
#include "torture/parse.h"
#include "torture/summary.h"
#include "torture/supervisor.h"

namespace sd::torture {

namespace {

uint64_t drawn_seed() {
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
}

int run_torture(TortureOptions& options, const std::string& program) {
  options.finish();
  if (!options.seed) options.seed = drawn_seed();
  if (!options.json.empty()) check_json_path(options.json);
  Console console(options, program);
  RunResult result = supervise(options, program, &console);
  if (!options.json.empty()) {
    const std::string error = write_file(options.json, summary_json(options, result));
    if (!error.empty() && result.output_error.empty()) {
      result.output_error = json_remedy(options.json, error);
    }
  }
  console.end(result);
  if (!result.output_error.empty()) return exit_environment;
  return run_verdict(result) == scf::Verdict::success ? exit_clean : exit_failure;
}

}  // namespace

Command torture_command(const std::string& program) {
  const auto options = std::make_shared<TortureOptions>();
  Command command;
  command.name = "torture";
  command.summary =
      "Torture the cross-CPU call stack at random, for a time or a number of executions";
  command.example = "shootdown torture scf --cpus 3 --duration 5s scftorture.weight_many_wait=4";
  command.options = torture_option_table(options.get());
  command.options.insert(
      command.options.begin(),
      {"KIND", "KIND", "scf, which is the default", "", false, false, [](const std::string& text) {
         if (text != "scf") {
           usage_error(quote(text) + " is not a kind of torture of this version: scf");
         }
       }});
  command.kernel_parameter = kernel_parameter_option;
  command.run = [options, program] { return run_torture(*options, program); };
  return command;
}

}  // namespace sd::torture
