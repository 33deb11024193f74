// For tests: runs the built program as a user does, in a scratch directory.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace sd::torture {

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void spill(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

class ScratchDir {
 public:
  ScratchDir() {
    std::string name = std::filesystem::temp_directory_path() / "shootdown-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~ScratchDir() { std::filesystem::remove_all(path_); }
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;

  std::string path(const std::string& name = "") const {
    return name.empty() ? path_ : path_ + "/" + name;
  }

 private:
  std::string path_;
};

struct ProgramResult {
  int code = -1;  // 128 + signal if a signal ended it
  std::string out;
  std::string err;

  std::string last_line() const {
    std::string text = out;
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }
  // One line, as every mistake of a user or fault of the environment is reported.
  bool one_error_line() const {
    return err.starts_with("shootdown: ") && err.find('\n') == err.size() - 1;
  }
};

// The program beside the test.
inline std::string program_path() {
  char buffer[4096];
  const ssize_t n = ::readlink("/proc/self/exe", buffer, sizeof(buffer));
  if (n <= 0) std::abort();
  const std::string self(buffer, static_cast<size_t>(n));
  return self.substr(0, self.rfind('/')) + "/shootdown";
}

// A run of the program in `dir`, from start() to wait(). `prepare` runs in the child before exec.
class Program {
 public:
  Program(
      const ScratchDir& dir, std::vector<std::string> arguments,
      const std::function<void()>& prepare = [] {})
      : out_(dir.path(".out" + std::to_string(number()))), err_(out_ + ".err") {
    arguments.insert(arguments.begin(), program_path());
    std::vector<char*> argv;
    for (std::string& word : arguments) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    redirect(out_, STDOUT_FILENO);
    redirect(err_, STDERR_FILENO);
    if (::chdir(dir.path().c_str()) != 0) ::_exit(126);
    prepare();
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }

  pid_t pid() const { return pid_; }
  std::string out_so_far() const { return slurp(out_); }
  std::vector<pid_t> children() const {
    const std::string pid = std::to_string(pid_);
    std::ifstream in("/proc/" + pid + "/task/" + pid + "/children");
    std::vector<pid_t> out;
    for (pid_t child = 0; in >> child;) out.push_back(child);
    return out;
  }

  ProgramResult wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    ProgramResult result;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = slurp(out_);
    result.err = slurp(err_);
    return result;
  }

 private:
  static int number() {
    static int next = 0;
    return next++;
  }
  static void redirect(const std::string& path, int fd) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::dup2(file, fd);
    ::close(file);
  }

  std::string out_;
  std::string err_;
  pid_t pid_ = 0;
};

// Waits until the program has written something, or has gone on for long.
inline void wait_for_output(const Program& program, const std::string& text) {
  for (int i = 0; i < 6000 && program.out_so_far().find(text) == std::string::npos; i++)
    ::usleep(10'000);
}

inline ProgramResult run_program(
    const ScratchDir& dir, std::vector<std::string> arguments,
    const std::function<void()>& prepare = [] {}) {
  return Program(dir, std::move(arguments), prepare).wait();
}

// The file that the only failure of a run was written to.
inline std::string only_replay(const ScratchDir& dir, const std::string& out = "shootdown-out") {
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path(out + "/failures"))) {
    if (!found.empty()) return "";
    found = entry.path().string() + "/replay.sdr";
  }
  return found;
}

}  // namespace sd::torture
