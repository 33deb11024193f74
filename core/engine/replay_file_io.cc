#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/engine/replay_file.h"

namespace sd::engine {
namespace {

// 0 or an errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

// All bytes of an open file, up to one more than allowed. 0 or an errno.
int read_all(int fd, std::string* out) {
  constexpr size_t kChunk = size_t{256} << 10;
  while (out->size() <= ReplayFile::kMaxFileBytes) {
    const size_t old = out->size();
    out->resize(old + kChunk);
    const ssize_t got = ::read(fd, out->data() + old, kChunk);
    out->resize(old + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got == 0) return 0;
    if (got < 0 && errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

int ReplayFile::write(const std::string& path) const {
  const std::string text = to_text();
  // Beside the file, because rename works within a file system only; with the process in its name,
  // so that two that write the same file do not meet.
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  unlink(temporary.c_str());  // of a process that died with this number
  const int fd = open(temporary.c_str(), flags, 0644);
  if (fd < 0) return errno;
  int error = write_all(fd, text);
  if (error == 0 && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) unlink(temporary.c_str());
  return error;
}

std::optional<ReplayFile> ReplayFile::read(const std::string& path, ReplayError* error) {
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int problem = fd < 0 ? errno : read_all(fd, &text);
  if (fd >= 0) close(fd);
  if (problem != 0) {
    *error = ReplayError{0, std::string("cannot read: ") + std::strerror(problem)};
    return std::nullopt;
  }
  return parse(text, error);
}

}  // namespace sd::engine
