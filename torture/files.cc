#include "torture/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace sd::torture {

namespace {

std::string why(int error) {
  return std::strerror(error);
}

// Everything, or an error number.
int write_all(int fd, const std::string& content) {
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t n = ::write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    done += static_cast<size_t>(n);
  }
  return 0;
}

}  // namespace

std::string write_file(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".tmp" + std::to_string(::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return why(errno);
  int error = write_all(fd, content);
  // A disk may say only now that it is full.
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return why(error);
}

std::optional<std::string> read_file(const std::string& path, size_t limit, std::string* error) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    *error = why(errno);
    return std::nullopt;
  }
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) *error = why(errno);
    if (n <= 0) break;
    content.append(buffer, static_cast<size_t>(n));
    if (content.size() > limit) *error = "larger than " + std::to_string(limit >> 20) + " MiB";
    if (content.size() > limit) break;
  }
  ::close(fd);
  if (!error->empty()) return std::nullopt;
  return content;
}

std::string make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return error.message();
  if (!std::filesystem::is_directory(path, error)) return "Not a directory";
  return {};
}

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

std::string probe_directory(const std::string& path) {
  // More than a file system keeps in reserve for a name alone.
  const std::string content(8192, '\n');
  const std::string probe = path + "/.probe" + std::to_string(::getpid());
  const std::string error = write_file(probe, content);
  ::unlink(probe.c_str());
  return error;
}

}  // namespace sd::torture
