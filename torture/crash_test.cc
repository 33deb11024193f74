#include "torture/crash.h"

#include <gtest/gtest.h>

#include <csignal>

namespace sd::torture {
namespace {

using engine::FailureKind;

Ending by_signal(int number) {
  Ending ending;
  ending.signal = number;
  return ending;
}

Ending by_exit(int code) {
  Ending ending;
  ending.code = code;
  return ending;
}

struct Death {
  const char* standard_error;
  FailureKind kind;
  const char* id;
  const char* function;
};

class SanitizerDeaths : public testing::TestWithParam<Death> {};

TEST_P(SanitizerDeaths, AreReadFromTheSummary) {
  const engine::Failure failure = failure_of_death(by_exit(1), GetParam().standard_error);
  EXPECT_EQ(failure.kind, GetParam().kind);
  EXPECT_EQ(failure.id, GetParam().id);
  EXPECT_EQ(failure.function, GetParam().function);
  EXPECT_NE(failure.message, "");
  EXPECT_EQ(failure.detail.find("SUMMARY"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, SanitizerDeaths,
    testing::Values(
        Death{"==7==ERROR: ...\nSUMMARY: AddressSanitizer: heap-use-after-free "
              "core/smp/many.cc:12:3 in "
              "sd::smp::csd_lock_wait(sd::smp::call_single_data_t*)\n==7==ABORTING\n",
              FailureKind::sanitizer, "asan-heap-use-after-free", "csd_lock_wait"},
        Death{"    #0 0x1 in std::upper_bound<a(b)::$_0>(c) /usr/include/stl.h:4\n"
              "    #1 0x2 in sd::machine::check(int) /tree/core/machine/x.cc:9:1\n"
              "    #2 0x3 in sd::scf::(anonymous namespace)::invoke_many(sd::scf::Call const&) "
              "/tree/torture/scf/invoke_many.cc:131:5\n"
              "    #3 0x4 in sd::scf::invoke(int) /tree/torture/scf/invoke.cc:99:3\n"
              "SUMMARY: AddressSanitizer: SEGV /usr/include/stl.h:4 in "
              "std::upper_bound<a(b)::$_0>(c)\n",
              FailureKind::sanitizer, "asan-SEGV", "invoke_many"},
        Death{
            "    #0 sd::smp::many(int) /tree/core/smp/many.cc:3 (shootdown+0x12)\n"
            "SUMMARY: ThreadSanitizer: data race /tree/core/smp/many.cc:3 in sd::smp::many(int)\n",
            FailureKind::sanitizer, "data-race", "many"},
        Death{"SUMMARY: AddressSanitizer: SEGV (/tmp/a+0x1234) in f\n", FailureKind::sanitizer,
              "asan-SEGV", "f"},
        Death{"SUMMARY: ThreadSanitizer: data race core/smp/flush.cc:8 in sd::smp::flush\n",
              FailureKind::sanitizer, "data-race", "flush"},
        Death{"x.cc:3:5: runtime error: shift exponent 64\nSUMMARY: UndefinedBehaviorSanitizer: "
              "undefined-behavior x.cc:3:5 in \n",
              FailureKind::sanitizer, "ubsan-undefined-behavior", ""},
        Death{"SUMMARY: AddressSanitizer:", FailureKind::sanitizer, "asan-error", ""},
        Death{"shootdown: internal error: a == b does not hold at x.cc:1; this is a bug of "
              "shootdown itself, "
              "please report it\n",
              FailureKind::crash, "internal-error", ""}));

TEST(Crash, OfARaceTheReportIsCutToTheCodeUnderTest) {
  engine::Failure failure;
  failure.function = "csd_lock";
  read_race(
      "==================\n"
      "WARNING: ThreadSanitizer: data race (pid=13791)\n"
      "  Write of size 8 at 0x7f by thread T8:\n"
      "    #0 sd::smp::many(int) /tree/core/smp/many.cc:71:13 (shootdown+0x1b8dae) (BuildId: 59)\n"
      "    #1 sd::engine::loop(int) /tree/core/engine/fiber.cc:69:7 (shootdown+0x19e7c6)\n"
      "  Thread T8 (tid=0, running) created by thread T7 at:\n"
      "    #0 sd::smp::f(int) /tree/core/smp/f.cc:1:1 (shootdown+0x19deb2)\n"
      "SUMMARY: ThreadSanitizer: data race /tree/core/smp/many.cc:71:13 in sd::smp::many(int)\n"
      "more\n",
      &failure);
  EXPECT_EQ(failure.function, "many");
  EXPECT_EQ(failure.detail,
            "==================\n"
            "WARNING: ThreadSanitizer: data race (pid=13791)\n"
            "  Write of size 8 at 0x7f by thread T8:\n"
            "    #0 sd::smp::many(int) /tree/core/smp/many.cc:71:13\n");
  read_race("nothing", &failure);
  EXPECT_EQ(failure.function, "many");
}

TEST(Crash, SignalsAndExitCodesHaveNames) {
  EXPECT_EQ(failure_of_death(by_signal(SIGSEGV), "").id, "SIGSEGV");
  EXPECT_EQ(failure_of_death(by_signal(SIGKILL), "").id, "SIGKILL");
  EXPECT_EQ(failure_of_death(by_exit(66), "").id, "exit-66");
  EXPECT_EQ(failure_of_death(by_signal(SIGSEGV), "").kind, FailureKind::crash);
}

TEST(Crash, TheWatchdogsVerdictIsALivelock) {
  Ending ending = by_signal(SIGKILL);
  ending.stuck = Stuck::busy;
  const engine::Failure failure = failure_of_death(ending, "");
  EXPECT_EQ(failure.kind, FailureKind::livelock);
  EXPECT_EQ(failure.id, "stuck");
}

}  // namespace
}  // namespace sd::torture
