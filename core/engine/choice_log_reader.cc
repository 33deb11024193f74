#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/engine/choice_log.h"
#include "core/engine/choice_log_format.h"

namespace sd::engine {
namespace {

// Takes choices off the front of a log's bytes.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return at_ == bytes_.size(); }
  size_t offset() const { return at_; }

  // False: what comes is no choice.
  bool next(Choice* choice) {
    uint32_t first;
    if (!varint(&first) || !varint(&choice->count)) return false;
    choice->value = first >> 1;
    choice->is_action = (first & 1) == 0;
    choice->purpose = Purpose::test;
    if (!choice->is_action) {
      if (at_end()) return false;
      choice->purpose = static_cast<Purpose>(bytes_[at_++]);
      if (choice->purpose >= Purpose::count_) return false;
    }
    return choice->count >= 2 && choice->count <= kMaxChoiceCount && choice->value < choice->count;
  }

 private:
  bool varint(uint32_t* value) {
    *value = 0;
    for (unsigned shift = 0; shift <= 14; shift += 7) {
      if (at_end()) return false;
      const uint8_t byte = static_cast<uint8_t>(bytes_[at_++]);
      *value |= static_cast<uint32_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

// Nullptr, or what is wrong with a header of which all bytes are there.
const char* header_error(const ChoiceLogHeader& header) {
  if (std::memcmp(header.magic, kChoiceLogMagic, sizeof header.magic) != 0) {
    return "not a choice log: wrong magic";
  }
  if (header.version != ChoiceLogHeader::kVersion) return "a choice log of another version";
  if (header.state > static_cast<uint32_t>(LogState::failed)) return "no such state";
  if (header.overflowed > 1) return "overflow is neither 0 nor 1";
  if (header.scenario_bytes > sizeof header.scenario) return "the scenario is longer than its room";
  return nullptr;
}

// read(2) until `bytes` are there, or the file ends. False: errno says why.
bool read_all(int fd, size_t bytes, std::string* out) {
  constexpr size_t kChunk = size_t{1} << 20;
  while (bytes > 0) {
    const size_t old = out->size();
    const size_t wanted = bytes < kChunk ? bytes : kChunk;
    out->resize(old + wanted);
    const ssize_t got = read(fd, out->data() + old, wanted);
    out->resize(old + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) bytes -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

std::optional<LoggedExecution> parse_choice_log(std::string_view bytes, std::string* error) {
  ChoiceLogHeader header;
  if (bytes.size() < ChoiceLogHeader::kSize) {
    *error = "not a choice log: " + std::to_string(bytes.size()) + " bytes are less than a header";
    return std::nullopt;
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (const char* wrong = header_error(header)) {
    *error = wrong;
    return std::nullopt;
  }
  bytes.remove_prefix(ChoiceLogHeader::kSize);
  if (header.bytes > bytes.size()) {
    *error = "truncated: " + std::to_string(header.bytes) + " bytes of choices expected, " +
             std::to_string(bytes.size()) + " found";
    return std::nullopt;
  }
  LoggedExecution log;
  log.state = static_cast<LogState>(header.state);
  log.execution = header.execution;
  log.seed = header.seed;
  log.overflowed = header.overflowed != 0;
  log.scenario.assign(header.scenario, header.scenario_bytes);
  Decoder decoder(bytes.substr(0, header.bytes));
  while (!decoder.at_end()) {
    const size_t offset = decoder.offset();
    Choice choice;
    if (!decoder.next(&choice)) {
      *error = "no choice at byte " + std::to_string(offset) + " of the choices";
      return std::nullopt;
    }
    log.choices.push_back(choice);
  }
  return log;
}

std::optional<LoggedExecution> read_choice_log(const std::string& path, std::string* error) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  std::string bytes;
  bool ok = fd >= 0 && read_all(fd, ChoiceLogHeader::kSize, &bytes);
  if (ok && bytes.size() == ChoiceLogHeader::kSize) {
    uint64_t used;
    std::memcpy(&used, bytes.data() + offsetof(ChoiceLogHeader, bytes), sizeof used);
    ok = read_all(fd, used, &bytes);
  }
  if (!ok) *error = path + ": " + std::strerror(errno);
  if (fd >= 0) close(fd);
  if (!ok) return std::nullopt;
  std::optional<LoggedExecution> log = parse_choice_log(bytes, error);
  if (!log) *error = path + ": " + *error;
  return log;
}

}  // namespace sd::engine
