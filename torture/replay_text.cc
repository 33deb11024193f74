#include "torture/replay_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "core/engine/choice_log.h"
#include "core/engine/replay_file.h"
#include "torture/build_info.h"
#include "torture/files.h"
#include "torture/parse.h"
#include "torture/user_error.h"

namespace sd::torture {

namespace {

using engine::ReplayFile;

// Keys beside those of the scenario. All must be there.
constexpr const char* kProvenance[] = {"strategy", "seed", "build", "failure", "trace_hash"};

bool is_provenance(const std::string& key) {
  return std::any_of(std::begin(kProvenance), std::end(kProvenance),
                     [&](const char* name) { return key == name; });
}

// Entries stand one per line, after the line with the version.
[[noreturn]] void bad_line(const std::string& name, size_t entry, const std::string& message) {
  usage_error(name + ":" + std::to_string(entry + 2) + ": " + message);
}

uint64_t number_of(const ReplayFile& file, const std::string& key, const std::string& name) {
  const auto& entries = file.entries();
  const auto at =
      std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.first == key; });
  const auto value = parse_uint(at->second);
  if (value) return *value;
  bad_line(name, static_cast<size_t>(at - entries.begin()),
           key + ": " + quote(at->second) + " is not a number, such as 0x2a");
}

// ScenarioError if its text is not a scenario's.
Replay replay_of(engine::LoggedExecution logged) {
  KeyValues pairs;
  for (const std::string& line : split(logged.scenario, '\n')) {
    const size_t colon = line.find(": ");
    if (colon != std::string::npos)
      pairs.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  Replay replay;
  replay.scenario = from_key_values(pairs);
  replay.strategy = "unknown";
  replay.seed = logged.seed;
  replay.choices = std::move(logged.choices);
  return replay;
}

bool is_choice_log(const std::string& path) {
  char magic[sizeof engine::kChoiceLogMagic];
  std::ifstream in(path, std::ios::binary);
  in.read(magic, sizeof magic);
  return in && std::memcmp(magic, engine::kChoiceLogMagic, sizeof magic) == 0;
}

Replay load_choice_log(const std::string& path) {
  std::string error;
  auto logged = engine::read_choice_log(path, &error);
  if (!logged) usage_error(error);
  try {
    return replay_of(*std::move(logged));
  } catch (const ScenarioError& wrong) {
    usage_error(path + ": its scenario: " + wrong.message);
  }
}

}  // namespace

std::string replay_text(const Replay& replay) {
  ReplayFile file;
  for (const auto& [key, value] : to_key_values(replay.scenario)) file.set(key, value);
  file.set("strategy", replay.strategy);
  file.set("seed", fmt::format("{:#x}", replay.seed));
  file.set("build", build_info());
  file.set("failure", replay.signature.empty() ? "none" : replay.signature);
  file.set("trace_hash", fmt::format("{:#018x}", replay.trace_hash));
  file.choices = replay.choices;
  return file.to_text();
}

Replay parse_replay(const std::string& text, const std::string& name) {
  engine::ReplayError error;
  auto file = ReplayFile::parse(text, &error);
  if (!file) usage_error(error.text(name));

  // The scenario's entries, and which entries of the file they are.
  KeyValues pairs;
  std::vector<size_t> place;
  const auto& entries = file->entries();
  for (size_t i = 0; i < entries.size(); i++) {
    if (is_provenance(entries[i].first)) continue;
    pairs.push_back(entries[i]);
    place.push_back(i);
  }
  place.push_back(entries.size());  // the line of "choices:", for what is missing

  Replay replay;
  try {
    replay.scenario = from_key_values(pairs);
  } catch (const ScenarioError& wrong) {
    bad_line(name, place[wrong.index], wrong.message);
  }
  for (const char* key : kProvenance) {
    if (file->get(key) == nullptr)
      bad_line(name, entries.size(), std::string("a line is missing: ") + key);
  }
  replay.strategy = *file->get("strategy");
  replay.signature = *file->get("failure");
  if (replay.signature == "none") replay.signature.clear();
  replay.seed = number_of(*file, "seed", name);
  replay.trace_hash = number_of(*file, "trace_hash", name);
  replay.choices = std::move(file->choices);
  return replay;
}

Replay load_replay(const std::string& path) {
  if (is_choice_log(path)) return load_choice_log(path);
  std::string error;
  const auto text = read_file(path, ReplayFile::kMaxFileBytes, &error);
  if (!text && error == std::strerror(EACCES)) {
    environment_error(path + ": cannot read: " + error + "; chmod +r it, or run as its owner");
  }
  if (!text) usage_error(path + ": cannot read: " + error);
  return parse_replay(*text, path);
}

std::string interrupted_replay_text(const std::string& log_path) {
  std::string error;
  auto logged = engine::read_choice_log(log_path, &error);
  if (!logged || logged->state == engine::LogState::idle) return {};
  try {
    return replay_text(replay_of(*std::move(logged)));
  } catch (const ScenarioError&) {
    return {};
  }
}

std::string scenario_text(const Scenario& scenario) {
  std::string text;
  for (const auto& [key, value] : to_key_values(scenario)) text += key + ": " + value + "\n";
  return text;
}

}  // namespace sd::torture
