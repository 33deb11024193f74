#include "core/engine/replay_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/engine/rng.h"

namespace sd::engine {
namespace {

Choice action(uint32_t value, uint32_t count) {
  return {value, count, true, Purpose::test};
}
Choice number(uint32_t value, uint32_t count, Purpose purpose) {
  return {value, count, false, purpose};
}

// Mostly calm, as recorded executions are.
std::vector<Choice> random_choices(Rng& rng, uint32_t n) {
  const uint32_t calm_of_8 = rng.below(9);
  std::vector<Choice> choices;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t count = 2 + rng.below(rng.below(16) == 0 ? kMaxChoiceCount - 1 : 8);
    const uint32_t value = rng.below(8) < calm_of_8 ? 0 : rng.below(count);
    const auto purpose = static_cast<Purpose>(rng.below(static_cast<uint32_t>(Purpose::count_)));
    choices.push_back(rng.below(3) != 0 ? action(value, count) : number(value, count, purpose));
  }
  return choices;
}

ReplayFile sample(uint64_t seed, uint32_t choices) {
  Rng rng(seed);
  ReplayFile file;
  file.set("scenario", "scf");
  file.set("series", "merged+P04");
  file.set("empty", "");
  file.set("signature", "S-I4@csd_unlock");
  file.set("note", " leading space, colon: and \xc3\xbcml\xc3\xa4ut ");
  file.choices = random_choices(rng, choices);
  return file;
}

ReplayFile parse_ok(std::string_view text) {
  ReplayError error;
  auto file = ReplayFile::parse(text, &error);
  EXPECT_TRUE(file.has_value()) << error.text("file") << "\n" << text.substr(0, 2000);
  return file ? *std::move(file) : ReplayFile{};
}

std::string error_of(std::string_view text) {
  ReplayError error;
  EXPECT_FALSE(ReplayFile::parse(text, &error)) << text.substr(0, 200);
  return error.text("f.sdr");
}

// A file with these lines between version and end.
std::string file_of(const std::string& lines) {
  return "shootdown-replay 1\n" + lines + "end\n";
}
std::string tokens(const std::string& line) {
  return file_of("choices:\n" + line + "\n");
}

// What a replay that was written must still have: all but calm choices at the end, and of the
// others the value, and kind, count and purpose unless calm.
void expect_same_execution(const std::vector<Choice>& read, const std::vector<Choice>& written) {
  ASSERT_LE(read.size(), written.size());
  for (size_t i = 0; i < written.size(); ++i) {
    if (i >= read.size()) {
      ASSERT_EQ(written[i].value, 0u) << i;
    } else if (written[i].value != 0 || read[i].count != 0) {
      ASSERT_EQ(read[i], written[i]) << i;
    } else {
      ASSERT_EQ(read[i].value, 0u) << i;
    }
  }
}

TEST(ReplayFile, IsTheDocumentedText) {
  ReplayFile file;
  file.set("series", "merged");
  file.set("seed", "0x2a");
  file.choices = {
      action(2, 3), action(0, 3), number(0, 2, Purpose::wake_cpu), number(4, 9, Purpose::op_kind),
      action(1, 2), action(0, 2)};
  EXPECT_EQ(file.to_text(),
            "shootdown-replay 1\n"
            "series: merged\n"
            "seed: 0x2a\n"
            "choices:\n"
            "a2/3 z2 n4/9@op_kind a1/2\n"
            "end\n");
}

TEST(ReplayFile, AnExecutionWithoutAnyChoiceButCalmOnesIsAnEmptyList) {
  ReplayFile file;
  file.choices = std::vector<Choice>(1000, action(0, 2));
  EXPECT_EQ(file.to_text(), "shootdown-replay 1\nchoices:\nend\n");
  EXPECT_TRUE(parse_ok(file.to_text()).choices.empty());
}

TEST(ReplayFile, EntriesKeepTheirOrderAndAreReplacedInPlace) {
  ReplayFile file;
  file.set("b", "1");
  file.set("a", "2");
  file.set("b", "3");
  ASSERT_EQ(file.entries().size(), 2u);
  EXPECT_EQ(file.entries()[0], (ReplayFile::Entry{"b", "3"}));
  EXPECT_EQ(*file.get("a"), "2");
  EXPECT_EQ(file.get("c"), nullptr);
}

TEST(ReplayFile, ValuesAreMadeToFitOneLineOfLimitedLength) {
  ReplayFile file;
  file.set("message", std::string("two\nlines\r\t\0!", 13));
  EXPECT_EQ(*file.get("message"), "two lines   !");
  file.set("long", std::string(100'000, 'x'));
  EXPECT_EQ(file.get("long")->size(), ReplayFile::kMaxValueBytes);
  EXPECT_EQ(file.get("long")->substr(ReplayFile::kMaxValueBytes - 4), "x...");
  EXPECT_EQ(*parse_ok(file.to_text()).get("long"), *file.get("long"));
}

TEST(ReplayFile, RoundTripsAnyEntriesAndChoices) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const ReplayFile file = sample(seed, static_cast<uint32_t>(seed * 7));
    const std::string text = file.to_text();
    const ReplayFile read = parse_ok(text);
    EXPECT_EQ(read.entries(), file.entries());
    expect_same_execution(read.choices, file.choices);
    EXPECT_EQ(read.to_text(), text) << seed;
  }
}

TEST(ReplayFile, LongCalmRunsStillHaveAChoiceInFullNowAndThen) {
  ReplayFile file;
  file.choices = std::vector<Choice>(200, action(0, 5));
  file.choices.push_back(action(1, 5));
  EXPECT_EQ(file.to_text(),
            "shootdown-replay 1\nchoices:\nz63 a0/5 z63 a0/5 z63 a0/5 z8 a1/5\nend\n");
  EXPECT_EQ(parse_ok(file.to_text()).choices[63], action(0, 5));
}

TEST(ReplayFile, NoLineOfChoicesIsLongerThan100Columns) {
  const std::string text = sample(3, 5000).to_text();
  size_t lines = 0;
  for (size_t at = 0; at < text.size(); ++lines) {
    const size_t end = text.find('\n', at);
    EXPECT_LE(end - at, ReplayFile::kMaxColumns) << text.substr(at, end - at);
    at = end + 1;
  }
  EXPECT_GT(lines, 100u);
}

TEST(ReplayFile, LineEndsOfOtherSystemsAreTolerated) {
  const ReplayFile file = sample(4, 100);
  std::string text;
  for (const char c : file.to_text()) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(parse_ok(text).to_text(), file.to_text());
  text.resize(text.size() - 2);
  EXPECT_EQ(parse_ok(text).to_text(), file.to_text()) << "no line end after the last line";
  EXPECT_EQ(parse_ok(file.to_text() + "\n\r\n").to_text(), file.to_text());
}

TEST(ReplayFile, EveryMistakeInTheHeaderNamesItsLineAndWhatWasExpected) {
  EXPECT_EQ(error_of(""),
            "f.sdr: expected 'shootdown-replay 1' in the first line, found an empty file");
  const std::string first = "f.sdr:1: expected 'shootdown-replay 1' in the first line, found ";
  EXPECT_EQ(error_of("\n"), first + "''");
  EXPECT_EQ(error_of("\x7f"
                     "ELF"),
            first + "'\\x7fELF'");
  EXPECT_EQ(error_of("shootdown-replay"), first + "'shootdown-replay'");
  EXPECT_EQ(error_of("shootdown-replay x1"), first + "'shootdown-replay x1'");
  EXPECT_EQ(error_of("shootdown-replay "), first + "'shootdown-replay '");
  EXPECT_EQ(error_of(" shootdown-replay 1\n"), first + "' shootdown-replay 1'");
  EXPECT_EQ(error_of("shootdown-replay 0\n"),
            "f.sdr:1: replay version '0' is too old: this build reads version 1");
  EXPECT_EQ(error_of("shootdown-replay 2\n"),
            "f.sdr:1: replay version '2' is too new: this build reads version 1");
  EXPECT_EQ(
      error_of("shootdown-replay 99999999999999999999\n"),
      "f.sdr:1: replay version '99999999999999999999' is too new: this build reads version 1");
  const std::string key =
      "f.sdr:2: expected 'key: value' (a key is up to 64 of a-z 0-9 _ . -) or "
      "'choices:', found ";
  EXPECT_EQ(error_of(file_of("no colon\n")), key + "'no colon'");
  EXPECT_EQ(error_of(file_of(": v\n")), key + "': v'");
  EXPECT_EQ(error_of(file_of("Key: v\n")), key + "'Key: v'");
  EXPECT_EQ(error_of(file_of("choices: 7\n")), key + "'choices: 7'");
  EXPECT_EQ(error_of(file_of("\n")), key + "''");
  EXPECT_EQ(error_of(file_of(std::string(65, 'k') + ": v\n")),
            key + "'" + std::string(32, 'k') + "...'");
  EXPECT_EQ(error_of(file_of("a:v\n")), "f.sdr:2: expected a space after the colon, found 'a:v'");
  EXPECT_EQ(error_of(file_of("a: 1\nb: 2\na: 3\n")),
            "f.sdr:4: expected each key once, found 'a' again");
  EXPECT_EQ(error_of(file_of(std::string("a: x\0y\n", 7))),
            "f.sdr:2: expected no control character in the value of 'a', found '\\x00'");
  EXPECT_EQ(error_of(file_of("a: " + std::string(16385, 'v') + "\n")),
            "f.sdr:2: expected a value of at most 16384 bytes for 'a'");
  std::string many;
  for (int i = 0; i < 257; ++i) many += "k" + std::to_string(i) + ": v\n";
  EXPECT_EQ(error_of(file_of(many)), "f.sdr:258: expected at most 256 keys");
}

TEST(ReplayFile, ATruncatedFileIsSaidToBeTruncated) {
  EXPECT_EQ(error_of("shootdown-replay 1\n"),
            "f.sdr:1: truncated: expected 'key: value' or 'choices:' after this line");
  EXPECT_EQ(error_of("shootdown-replay 1\na: b"),
            "f.sdr:2: truncated: expected 'key: value' or 'choices:' after this line");
  EXPECT_EQ(error_of("shootdown-replay 1\nchoices:\na1/2\n"),
            "f.sdr:3: truncated: expected choices or 'end' after this line");
  const std::string text = sample(5, 100).to_text();
  for (size_t size = 0; size + 2 < text.size(); ++size) {
    ReplayError error;
    EXPECT_FALSE(ReplayFile::parse(text.substr(0, size), &error)) << size;
  }
}

TEST(ReplayFile, EveryMistakeInAChoiceNamesItsLineAndWhatWasExpected) {
  const auto expect_error = [](const std::string& token, const std::string& expected) {
    EXPECT_EQ(error_of(tokens("a1/2 " + token)), "f.sdr:3: expected " + expected) << token;
  };
  expect_error("x1", "a choice (aV/N, nV/N@purpose, zK) or 'end', found 'x1'");
  expect_error("0x1", "a choice (aV/N, nV/N@purpose, zK) or 'end', found '0x1'");
  for (const char* token : {"z", "z0", "z-1", "z1x", "z+1", "z20000001", "z99999999999999999999"}) {
    expect_error(token, "zK with K from 1 to 20000000, found '" + std::string(token) + "'");
  }
  for (const char* token : {"a", "a1", "a1/2@test", "a1@2/3"}) {
    expect_error(token, "aV/N, found '" + std::string(token) + "'");
  }
  for (const char* token : {"n1/2", "n1", "n@test", "n1@test/2"}) {
    expect_error(token, "nV/N@purpose, found '" + std::string(token) + "'");
  }
  for (const char* token : {"a0/0", "a0/1", "a1/", "a1/x", "a1/1048577", "a1/4294967298",
                            "n1/@test", "a1/2/3", "a0/-2"}) {
    expect_error(token, "N from 2 to 1048576 in V/N, found '" + std::string(token) + "'");
  }
  for (const char* token : {"a/2", "a2/2", "a4294967296/2", "a-1/2", "nx/2@test", "a 1/2"}) {
    const std::string found(token,
                            std::string(token).find(' ') == 1 ? 1 : std::string(token).size());
    expect_error(
        token, found == "a" ? "aV/N, found 'a'" : "V from 0 to N-1 in V/N, found '" + found + "'");
  }
  expect_error("n1/2@", "a known purpose, found ''");
  expect_error("n1/2@op_kin", "a known purpose, found 'op_kin'");
  expect_error("n1/2@?", "a known purpose, found '?'");
  expect_error(std::string("n1/2@test\0", 10), "a known purpose, found 'test\\x00'");
  EXPECT_EQ(error_of(tokens("a1/2") + "more\n"),
            "f.sdr:5: expected nothing after 'end', found 'more'");
}

TEST(ReplayFile, TheLargestLegalNumbersAreAccepted) {
  const ReplayFile file =
      parse_ok(tokens("a1048575/1048576 n1048575/1048576@test z00001 a001/002"));
  EXPECT_EQ(file.choices[0], action(kMaxChoiceCount - 1, kMaxChoiceCount));
  EXPECT_EQ(file.choices[3], action(1, 2));
}

TEST(ReplayFile, NumbersOfChoicesAndBytesHaveHardLimits) {
  EXPECT_EQ(parse_ok(tokens("z20000000")).choices.size(), ReplayFile::kMaxChoices);
  EXPECT_EQ(error_of(tokens("z20000000 z1")), "f.sdr:3: expected at most 20000000 choices");
  EXPECT_EQ(error_of(tokens("z20000000\na1/2")), "f.sdr:4: expected at most 20000000 choices");
  EXPECT_EQ(error_of(std::string(ReplayFile::kMaxFileBytes + 1, ' ')),
            "f.sdr: expected at most 64 MiB");
}

std::string mutated(std::string text, Rng& rng) {
  constexpr char kBytes[] = "0123456789/@:znaendchois \n\r\t\0\xff-";
  const uint32_t changes = 1 + rng.below(4);
  for (uint32_t i = 0; i < changes && !text.empty(); ++i) {
    const uint32_t size = static_cast<uint32_t>(text.size());
    const size_t at = rng.below(size), length = 1 + rng.below(8);
    const char byte =
        rng.below(4) == 0 ? static_cast<char>(rng.next()) : kBytes[rng.below(sizeof kBytes - 1)];
    switch (rng.below(6)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(rng.below(size), length));
        break;
      case 4:
        text[at] = static_cast<char>(text[at] ^ (1 << rng.below(8)));
        break;
      default:
        if (rng.below(8) == 0) text.resize(at);
        break;
    }
  }
  return text;
}

TEST(ReplayFile, AnyMutationOfAFileIsReadStablyOrRefusedWithOneLine) {
  const std::string valid = sample(6, 60).to_text();
  Rng rng(1);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = mutated(valid, rng);
    ReplayError error;
    const auto file = ReplayFile::parse(text, &error);
    if (!file) {
      ASSERT_FALSE(error.message.empty());
      ASSERT_LT(error.message.size(), 300u);
      for (const char c : error.message) ASSERT_TRUE(c >= ' ' && c <= '~') << error.message;
      continue;
    }
    ++accepted;
    const std::string once = file->to_text();
    ASSERT_EQ(parse_ok(once).to_text(), once) << text;
    ASSERT_EQ(parse_ok(once).entries(), file->entries());
  }
  EXPECT_GT(accepted, 500);
  EXPECT_LT(accepted, 15'000);
}

TEST(ReplayFile, RandomBytesAreRefused) {
  Rng rng(2);
  for (int i = 0; i < 2000; ++i) {
    std::string text = rng.below(2) == 0 ? "shootdown-replay 1\n" : "";
    for (uint32_t n = rng.below(200); n > 0; --n) text += static_cast<char>(rng.next());
    ReplayError error;
    EXPECT_FALSE(ReplayFile::parse(text, &error));
  }
}

class ReplayFileOnDisk : public testing::Test {
 protected:
  ReplayFileOnDisk() {
    char name[] = "/tmp/sd_replay_file_XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~ReplayFileOnDisk() override { std::filesystem::remove_all(directory_); }

  size_t files() const {
    const std::filesystem::directory_iterator all(directory_);
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }

  std::string directory_;
};

TEST_F(ReplayFileOnDisk, IsReadAsWrittenAndReplacesWhatWasThere) {
  const std::string path = directory_ + "/replay.sdr";
  std::ofstream(path) << "old";
  const ReplayFile file = sample(7, 1000);
  ASSERT_EQ(file.write(path), 0);
  ReplayError error;
  const auto read = ReplayFile::read(path, &error);
  ASSERT_TRUE(read.has_value()) << error.text(path);
  EXPECT_EQ(read->to_text(), file.to_text());
  EXPECT_EQ(files(), 1u) << "no temporary file is left";
}

TEST_F(ReplayFileOnDisk, AFailureToWriteIsReportedAndLeavesNothing) {
  const ReplayFile file = sample(8, 10);
  EXPECT_EQ(file.write(directory_ + "/no/such/replay.sdr"), ENOENT);
  EXPECT_EQ(file.write(directory_), EISDIR);
  std::ofstream(directory_ + "/file") << "x";
  EXPECT_EQ(file.write(directory_ + "/file/replay.sdr"), ENOTDIR);
  EXPECT_EQ(files(), 1u);
}

TEST_F(ReplayFileOnDisk, AFullDiskLeavesTheOldFileAsItWas) {
  const std::string path = directory_ + "/replay.sdr";
  ASSERT_EQ(sample(9, 10).write(path), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const rlimit limit{1024, 1024};
    std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(sample(10, 5000).write(path) == EFBIG ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  ReplayError error;
  EXPECT_EQ(ReplayFile::read(path, &error)->to_text(), sample(9, 10).to_text());
  EXPECT_EQ(files(), 1u);
}

TEST_F(ReplayFileOnDisk, AFileThatCannotBeReadIsAnErrorOfTheWholeFile) {
  ReplayError error;
  EXPECT_FALSE(ReplayFile::read(directory_ + "/absent", &error));
  EXPECT_EQ(error.text("absent"), "absent: cannot read: No such file or directory");
  EXPECT_FALSE(ReplayFile::read(directory_, &error));
  EXPECT_EQ(error.text("d"), "d: cannot read: Is a directory");
  EXPECT_FALSE(ReplayFile::read("/dev/zero", &error));
  EXPECT_EQ(error.text("zero"), "zero: expected at most 64 MiB");
  EXPECT_FALSE(ReplayFile::read("/dev/null", &error));
}

}  // namespace
}  // namespace sd::engine
