#include "torture/child.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>

namespace sd::torture {
namespace {

using Send = std::function<void(const std::string&)>;

ChildResult run(const std::function<void(const Send&)>& body) {
  return run_in_child(body, [] { return 0; });
}

TEST(Child, OutputAndEndingAreCollected) {
  const ChildResult result = run([](const Send& send) { send("hello"); });
  EXPECT_TRUE(result.ending.ok());
  EXPECT_EQ(result.output, "hello");
}

TEST(Child, WhatWasSentBeforeADeathIsKept) {
  const ChildResult result = run([](const Send& send) {
    std::fprintf(stderr, "last words\n");
    send(std::string(1 << 20, 'x'));
    std::raise(SIGKILL);
  });
  EXPECT_EQ(result.ending.signal, SIGKILL);
  EXPECT_EQ(result.output.size(), size_t{1} << 20);
  EXPECT_EQ(result.standard_error, "last words\n");
}

TEST(Child, AnExceptionIsAnInternalErrorWithItsText) {
  const ChildResult result = run([](const Send&) { throw std::runtime_error("no more of it"); });
  EXPECT_EQ(result.ending.signal, SIGABRT);
  EXPECT_NE(result.standard_error.find("shootdown: internal error: no more of it"),
            std::string::npos);
}

TEST(Child, CapturedTextStaysBounded) {
  Capture capture;
  const pid_t pid = spawn([&] {
    capture.redirect();
    for (int i = 0; i < 100; i++) {
      std::printf("%s\n", std::string(100'000, 'x').c_str());
      capture.trim();
    }
    return 7;
  });
  Ending ending;
  ASSERT_TRUE(reap(pid, false, &ending));
  EXPECT_EQ(ending.code, 7);
  EXPECT_LE(capture.text().size(), size_t{1} << 20);
}

// Not ended by the test's own time: the loop would never end.
TEST(Child, TheWatchdogEndsALoopThatGetsNowhere) {
  constexpr uint64_t kPatienceNs = 50'000'000;
  const ChildResult result = run_in_child(
      [](const Send&) {
        volatile bool forever = true;
        while (forever) {
        }
      },
      [] { return 1; }, Watchdog(kPatienceNs));
  EXPECT_EQ(result.ending.stuck, Stuck::busy);
  EXPECT_FALSE(result.ending.ok());
}

TEST(Child, TheWatchdogEndsASleepThatNobodyEnds) {
  const ChildResult result = run_in_child([](const Send&) { ::pause(); }, [] { return 1; },
                                          Watchdog(Watchdog::kPatienceNs, 1));
  EXPECT_EQ(result.ending.stuck, Stuck::asleep);
  EXPECT_EQ(result.ending.signal, SIGKILL);
}

// A debugger may hold it for as long as it likes.
TEST(Child, TheWatchdogLeavesAloneWhatIsStopped) {
  const pid_t pid = spawn([] { return ::pause(); });
  ::kill(pid, SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, WUNTRACED), pid);
  Watchdog watchdog(1, 1);
  watchdog.watch(pid);
  for (int i = 0; i < 5; i++, ::usleep(10'000)) EXPECT_EQ(watchdog.look(1), Stuck::no);
  ::kill(pid, SIGKILL);
  Ending ending;
  reap(pid, false, &ending);
}

TEST(Child, TheWatchdogLeavesAloneWhatGetsOn) {
  uint64_t progress = 0;
  const ChildResult result = run_in_child(
      [](const Send&) {
        volatile bool go_on = true;
        for (unsigned i = 0; i < 300'000'000 && go_on; i++) {
        }
      },
      [&] { return ++progress; }, Watchdog(1'000'000));
  EXPECT_TRUE(result.ending.ok());
}

}  // namespace
}  // namespace sd::torture
