// The output directory of a run, and the one class that knows what lies where in it:
//   failures/<signature>/replay.sdr, report.txt, stderr.txt   the latest finding of that signature
//   failures/<signature>/replay-1.sdr, ...                    those of earlier runs
//   workers/<pid>-<n>.choices                                 what workers of a live run choose
//   interrupted/<pid>-<n>.sdr    what workers were running when their whole run was killed; until
//                                the directory is used again, that is in workers/
//   state.json                   how far the run is (run_state.h)
#pragma once

#include <cstdint>
#include <string>

#include "torture/report.h"

namespace sd::torture {

// Where findings of a signature are, in the output directory `out`.
std::string failure_dir(const std::string& out, const std::string& signature);

class OutDir {
 public:
  // If nothing can be written there, error() says why, with the remedy, and a temporary
  // directory takes its place, so that the run can come to its verdict; environment_error() if
  // there is none either.
  explicit OutDir(const std::string& path);
  ~OutDir();  // removes what only a live run needs
  OutDir(const OutDir&) = delete;
  OutDir& operator=(const OutDir&) = delete;

  const std::string& error() const { return error_; }

  // The names that save() would use.
  ReportFiles files_for(const Finding& finding) const;

  // Writes the files of a report. An earlier run's files of the same signature are kept under other
  // names; this run's are replaced if `replace`. Empty, or what went wrong, with the remedy.
  std::string save(const Report& report, bool replace);

  // Replaces state.json. Empty, or what went wrong, with the remedy. Does nothing if another run
  // that goes on has the same directory.
  std::string save_state(const std::string& text);

  std::string choices_path(unsigned worker) const;

 private:
  void keep_interrupted() const;

  std::string path_;
  std::string error_;
  bool created_;   // it was not there before
  int lock_ = -1;  // held: state.json is this run's
};

}  // namespace sd::torture
