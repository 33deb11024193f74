// What a run has come to, as DIR/state.json keeps it: enough to go on from where it stopped, with
// no execution run twice, and to add runs up.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torture/report.h"
#include "torture/scenario.h"
#include "torture/shard.h"
#include "torture/totals.h"

namespace sd::torture {

// Findings of one signature.
struct Group {
  // The one with the lowest number of execution; its long texts are dropped once they are written.
  Finding finding;
  ReportFiles files;  // empty if they could not be written
  uint64_t count = 0;
};

struct RunState {
  // What is run.
  Scenario scenario;
  uint64_t seed = 0;
  Shard shard;
  std::optional<std::chrono::milliseconds> duration;  // of all parts of the run together
  std::optional<uint64_t> executions;                 // of all shards together
  bool keep_going = false;
  bool check_determinism = false;

  // How far it is. Of this shard's executions, those before the `next`th are done, except
  // `unfinished`, which are numbers in the whole run.
  uint64_t next = 0;
  static constexpr size_t kMaxUnfinished = 1024;  // as many as there can be workers
  std::vector<uint64_t> unfinished;
  Totals totals;
  std::vector<Group> groups;
  std::chrono::milliseconds elapsed{0};
};

std::string state_json(const RunState& state);
// usage_error() with the name and what is wrong, for anything that state_json() does not write.
RunState parse_state(const std::string& text, const std::string& name);

// DIR/state.json; usage_error() if there is none.
RunState load_state(const std::string& dir);
std::string state_path(const std::string& dir);

// By number of execution; and what they say about the failures of all.
void finish_groups(std::vector<Group>* groups, Totals* totals);

// Puts another run's findings to these, by signature.
void merge_groups(std::vector<Group>* groups, const std::vector<Group>& others);

}  // namespace sd::torture
