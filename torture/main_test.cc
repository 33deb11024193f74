// The program as a whole: help, version, subcommands.
#include <gtest/gtest.h>

#include <regex>

#include "core/bugs/bugs.h"
#include "core/series/series.h"
#include "torture/test_program.h"

namespace sd::torture {
namespace {

using Words = std::vector<std::string>;

class Help : public testing::TestWithParam<Words> {};

TEST_P(Help, HasAnExampleThatWorksWhenPasted) {
  const ScratchDir dir;
  Words words = GetParam();
  words.emplace_back("--help");
  const ProgramResult help = run_program(dir, words);
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  const size_t at = help.out.find("Example:\n  ");
  ASSERT_NE(at, std::string::npos) << help.out;
  const std::string example = help.out.substr(at + 11, help.out.find('\n', at + 11) - at - 11);
  EXPECT_TRUE(example.starts_with(program_path() + " ")) << example;

  // In a shell, as pasted.
  const std::string command = "cd " + dir.path() + " && { " + example + "; } >pasted 2>&1";
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  // Replay's example shows a failure.
  const bool fails = words.front() == "replay";
  EXPECT_EQ(code, fails ? 1 : 0) << example << "\n" << slurp(dir.path("pasted"));
}

INSTANTIATE_TEST_SUITE_P(Commands, Help,
                         testing::Values(Words{}, Words{"torture"}, Words{"replay"}, Words{"bugs"},
                                         Words{"bugs", "list"}, Words{"bugs", "show"},
                                         Words{"bugs", "hunt"}, Words{"merge"}, Words{"bench"},
                                         Words{"series"}, Words{"series", "list"},
                                         Words{"series", "show"}));

TEST(Main, VersionNamesFlavourAndCompiler) {
  const ScratchDir dir;
  const ProgramResult result = run_program(dir, {"--version"});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(std::regex_match(
      result.out,
      std::regex("shootdown [0-9]+\\.[0-9]+\\.[0-9]+ \\((plain|asan|tsan), (clang|gcc) .*\\)\n")))
      << result.out;
}

TEST(Main, OffersOnlyWhatThereIs) {
  const ScratchDir dir;
  const std::string help = run_program(dir, {"--help"}).out;
  for (const char* missing : {"shrink", "record", "litmus", "doctor"}) {
    EXPECT_EQ(help.find(std::string("\n  ") + missing + " "), std::string::npos) << missing;
    const ProgramResult result = run_program(dir, {missing});
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(result.one_error_line()) << result.err;
  }
}

TEST(Main, WithoutACommandNamesThem) {
  const ScratchDir dir;
  const ProgramResult result = run_program(dir, {});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "shootdown: a command is missing, one of torture, replay, merge, bench, bugs, series; "
            "see shootdown "
            "--help\n");
  EXPECT_EQ(run_program(dir, {"tortur"}).err,
            "shootdown: unknown command 'tortur'; did you mean torture?; see shootdown --help\n");
  EXPECT_EQ(run_program(dir, {"torture", "tlb"}).err,
            "shootdown: KIND: 'tlb' is not a kind of torture of this version: scf\n");
}

TEST(Main, BugsAreListedAndShown) {
  const ScratchDir dir;
  const ProgramResult list = run_program(dir, {"bugs", "list"});
  EXPECT_EQ(list.code, 0);
  for (const auto& bug : bugs::all()) {
    EXPECT_TRUE(std::regex_search(list.out, std::regex(std::string("(^|\n)") + bug.id + " ")))
        << bug.id;
    const ProgramResult show = run_program(dir, {"bugs", "show", bug.id});
    EXPECT_EQ(show.code, 0) << bug.id;
    EXPECT_TRUE(show.out.starts_with(std::string(bug.id) + " " + bug.slug + ": ")) << show.out;
    EXPECT_NE(show.out.find("origin:"), std::string::npos);
  }
  const ProgramResult none = run_program(dir, {"bugs", "show", "H100"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(none.one_error_line()) << none.err;
}

TEST(Main, SeriesAreListedAndShown) {
  const ScratchDir dir;
  const ProgramResult list = run_program(dir, {"series", "list"});
  EXPECT_EQ(list.code, 0);
  for (const auto& patch : series::all()) {
    EXPECT_NE(list.out.find(std::string("  ") + patch.name + " "), std::string::npos) << patch.name;
    EXPECT_EQ(run_program(dir, {"series", "show", patch.name}).code, 0) << patch.name;
  }
  for (const auto& set : series::named_sets()) {
    EXPECT_NE(list.out.find(std::string("  ") + set.name + " "), std::string::npos) << set.name;
    EXPECT_EQ(run_program(dir, {"series", "show", set.name}).code, 0) << set.name;
  }
  EXPECT_EQ(
      run_program(dir, {"series", "show", "meged"}).err,
      "shootdown: series show: 'meged' is not a patch or a named set; did you mean merged?\n");
}

}  // namespace
}  // namespace sd::torture
