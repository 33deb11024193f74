#include "core/engine/choice_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/engine/choice_log_format.h"

namespace sd::engine {
namespace {

constexpr size_t kHeaderBytes = ChoiceLogHeader::kSize;

// Space on the disk is asked for in pieces of this size, before it is written: a full disk is then
// an overflow, where a write into a hole of the file would be a SIGBUS. A million choices or so
// apart, so that the system call costs nothing.
constexpr size_t kPieceBytes = size_t{1} << 20;

std::string with_errno(const std::string& what, const std::string& path) {
  return what + " " + path + ": " + std::strerror(errno);
}

// Not posix_fallocate: where the file system cannot reserve space it writes zeros, in pieces.
bool reserve(int fd, size_t offset, size_t bytes) {
  int result;
  do {
    result = fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0 || (errno != ENOSPC && errno != EDQUOT && errno != EFBIG && errno != EIO);
}

}  // namespace

ChoiceLog::ChoiceLog(uint8_t* base, size_t capacity, int fd)
    : header_(reinterpret_cast<ChoiceLogHeader*>(base)),
      choices_(base + kHeaderBytes),
      published_(&header_->bytes),
      usable_(fd < 0 ? capacity : std::min(capacity, kPieceBytes)),
      capacity_(capacity),
      fd_(fd) {
  std::memcpy(header_->magic, kChoiceLogMagic, sizeof header_->magic);
  header_->version = ChoiceLogHeader::kVersion;
}

ChoiceLog::~ChoiceLog() {
  munmap(header_, kHeaderBytes + capacity_);
  if (fd_ >= 0) close(fd_);
}

std::unique_ptr<ChoiceLog> ChoiceLog::create(const std::string& path, size_t capacity,
                                             std::string* error) {
  const size_t size = kHeaderBytes + capacity;
  int fd = -1;
  void* base = MAP_FAILED;
  if ((unlink(path.c_str()) != 0 && errno != ENOENT) ||
      (fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) < 0) {
    *error = with_errno("cannot create", path);
  } else if (ftruncate(fd, static_cast<off_t>(size)) != 0 ||
             !reserve(fd, 0, kHeaderBytes + std::min(capacity, kPieceBytes))) {
    *error = with_errno("cannot make room for a log in", path);
  } else {
    base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) *error = with_errno("cannot map", path);
  }
  if (base == MAP_FAILED) {
    if (fd >= 0) {
      unlink(path.c_str());
      close(fd);
    }
    return nullptr;
  }
  return std::unique_ptr<ChoiceLog>(new ChoiceLog(static_cast<uint8_t*>(base), capacity, fd));
}

std::unique_ptr<ChoiceLog> ChoiceLog::in_memory(size_t capacity) {
  void* base = mmap(nullptr, kHeaderBytes + capacity, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  SD_CHECK(base != MAP_FAILED);
  return std::unique_ptr<ChoiceLog>(new ChoiceLog(static_cast<uint8_t*>(base), capacity, -1));
}

bool ChoiceLog::set_scenario(std::string_view scenario) {
  if (scenario.size() > kMaxScenarioBytes) return false;
  __atomic_store_n(&header_->scenario_bytes, 0, __ATOMIC_RELEASE);
  std::memcpy(header_->scenario, scenario.data(), scenario.size());
  __atomic_store_n(&header_->scenario_bytes, static_cast<uint32_t>(scenario.size()),
                   __ATOMIC_RELEASE);
  return true;
}

void ChoiceLog::begin(uint64_t execution, uint64_t seed) {
  set_state(LogState::idle);
  used_ = 0;
  publish();
  overflowed_ = false;
  header_->overflowed = 0;
  header_->execution = execution;
  header_->seed = seed;
  set_state(LogState::running);
}

void ChoiceLog::set_state(LogState state) {
  __atomic_store_n(&header_->state, static_cast<uint32_t>(state), __ATOMIC_RELEASE);
}

uint64_t ChoiceLog::pulse() const {
  return __atomic_load_n(&header_->execution, __ATOMIC_RELAXED) * 0x9e3779b97f4a7c15u +
         __atomic_load_n(published_, __ATOMIC_RELAXED) +
         __atomic_load_n(&header_->dropped, __ATOMIC_RELAXED);
}

void ChoiceLog::note_dropped() {
  __atomic_store_n(&header_->dropped, header_->dropped + 1, __ATOMIC_RELAXED);
}

uint8_t* ChoiceLog::put(uint32_t value, uint8_t* at) {
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<uint8_t>(value | 0x80);
  *at++ = static_cast<uint8_t>(value);
  return at;
}

bool ChoiceLog::make_room() {
  if (overflowed_) return false;
  const size_t more = std::min(kPieceBytes, capacity_ - usable_);
  if (more >= kMaxEncodedBytes && reserve(fd_, kHeaderBytes + usable_, more)) {
    usable_ += more;
    return true;
  }
  overflowed_ = true;
  header_->overflowed = 1;
  return false;
}

std::optional<LoggedExecution> ChoiceLog::read(std::string* error) const {
  return parse_choice_log({reinterpret_cast<const char*>(header_), kHeaderBytes + capacity_},
                          error);
}

}  // namespace sd::engine
