#include "torture/out_dir.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "torture/files.h"
#include "torture/parse.h"
#include "torture/replay_text.h"
#include "torture/run_state.h"
#include "torture/user_error.h"

namespace sd::torture {

namespace fs = std::filesystem;

namespace {

// Names the remedy for what the system says.
std::string remedy(const std::string& path, const std::string& error) {
  const bool full = error == std::strerror(ENOSPC) || error == std::strerror(EDQUOT) ||
                    error == std::strerror(EFBIG);
  return path + " cannot be written: " + error + "; " + (full ? "free some space there, or " : "") +
         "name a directory that can be written with --out";
}

// Empty, or why nothing can be written there.
std::string prepare(const std::string& path) {
  const std::string error = make_directory(path + "/workers");
  return error.empty() ? probe_directory(path + "/workers") : error;
}

// A new directory that can be written, or empty.
std::string temporary_directory() {
  const char* preferred = std::getenv("TMPDIR");
  for (const char* parent : {preferred, "/tmp", "/dev/shm"}) {
    if (!parent) continue;
    std::string path = std::string(parent) + "/shootdown-XXXXXX";
    if (::mkdtemp(path.data()) && prepare(path).empty()) return path;
  }
  return "";
}

// Moves replay.sdr, report.txt and stderr.txt to the first free number.
void keep_earlier(const std::string& dir) {
  std::error_code ignored;
  if (!fs::exists(dir + "/replay.sdr", ignored)) return;
  unsigned number = 1;
  while (fs::exists(dir + "/replay-" + std::to_string(number) + ".sdr", ignored)) number++;
  const auto move = [&](const char* stem, const char* ending) {
    const std::string from = dir + "/" + stem + ending;
    if (!fs::exists(from, ignored)) return;
    fs::rename(from, dir + "/" + stem + "-" + std::to_string(number) + ending, ignored);
  };
  move("replay", ".sdr");
  move("report", ".txt");
  move("stderr", ".txt");
}

}  // namespace

std::string failure_dir(const std::string& out, const std::string& signature) {
  return out + "/failures/" + signature;
}

OutDir::OutDir(const std::string& path) : path_(path) {
  std::error_code ignored_status;
  created_ = !fs::exists(path, ignored_status);
  if (const std::string error = prepare(path); !error.empty()) {
    path_ = temporary_directory();
    if (path_.empty()) environment_error(remedy(path, error));
    created_ = true;
    error_ = remedy(path, error) + "; until then failures are written to " + path_;
  }

  lock_ = ::open((path_ + "/workers/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ >= 0 && ::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock_);
    lock_ = -1;
  }
  keep_interrupted();
}

// What runs that were killed have left behind: logs of processes that are gone.
void OutDir::keep_interrupted() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_ + "/workers", ignored)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || ::kill(pid, 0) == 0 || errno != ESRCH) continue;
    if (const std::string text = interrupted_replay_text(entry.path()); !text.empty()) {
      const std::string dir = path_ + "/interrupted";
      const std::string file = dir + "/" + entry.path().stem().string() + ".sdr";
      if (!make_directory(dir).empty() || !write_file(file, text).empty()) continue;
    }
    fs::remove(entry.path(), ignored);
  }
}

OutDir::~OutDir() {
  std::error_code ignored;
  const std::string own = std::to_string(::getpid()) + "-";
  for (const auto& entry : fs::directory_iterator(path_ + "/workers", ignored)) {
    if (entry.path().filename().string().starts_with(own)) fs::remove(entry.path(), ignored);
  }
  if (lock_ >= 0) {
    fs::remove(path_ + "/workers/lock", ignored);
    ::close(lock_);
  }
  fs::remove(path_ + "/workers", ignored);   // if it is empty
  if (created_) fs::remove(path_, ignored);  // likewise
}

ReportFiles OutDir::files_for(const Finding& finding) const {
  const std::string dir = failure_dir(path_, finding.signature);
  ReportFiles files{dir + "/replay.sdr", dir + "/report.txt", ""};
  if (!finding.standard_error.empty()) files.standard_error = dir + "/stderr.txt";
  return files;
}

std::string OutDir::save(const Report& report, bool replace) {
  const std::string dir = failure_dir(path_, report.finding.signature);
  std::string error = make_directory(dir);
  if (!error.empty()) return remedy(dir, error);
  if (!replace) keep_earlier(dir);
  const ReportFiles& files = report.files;
  error = write_file(files.replay, report.finding.replay);
  if (error.empty()) error = write_file(files.report, report.text());
  if (error.empty() && !files.standard_error.empty()) {
    error = write_file(files.standard_error, report.finding.standard_error);
  }
  return error.empty() ? std::string() : remedy(dir, error);
}

std::string OutDir::save_state(const std::string& text) {
  if (lock_ < 0) return {};
  const std::string error = write_file(state_path(path_), text);
  return error.empty() ? std::string() : remedy(state_path(path_), error);
}

std::string OutDir::choices_path(unsigned worker) const {
  return path_ + "/workers/" + std::to_string(::getpid()) + "-" + std::to_string(worker) +
         ".choices";
}

}  // namespace sd::torture
