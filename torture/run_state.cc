#include "torture/run_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "torture/files.h"
#include "torture/parse.h"
#include "torture/scf/stats_line.h"
#include "torture/user_error.h"

namespace sd::torture {

namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr int kVersion = 2;
constexpr size_t kMaxBytes = size_t{64} << 20;

// Every number of the totals with its name.
template <typename Visit>
void visit_totals(Totals& totals, const Visit& visit) {
  scf::ScfStats& scf = totals.scf;
  visit("executions", totals.executions);
  visit("steps", totals.steps);
  visit("choices", totals.choices);
  visit("virtual_ns", totals.virtual_ns);
  visit("failures", totals.failures);
  visit("trace_hash", totals.trace_hash);
  visit("ipis", totals.ipis);
  visit("superfluous_ipis", totals.superfluous_ipis);
  for (unsigned i = 0; i < scf::kPrims; i++) {
    const std::string name(scf::prim_weight_name(static_cast<scf::Prim>(i)));
    visit("n_" + name, scf.n[i]);
    visit("n_ofl_" + name, scf.n_ofl[i]);
  }
  visit("n_async_busy", scf.n_async_busy);
  visit("invoked", scf.invoked);
  visit("expected", scf.expected);
  visit("n_errs", scf.n_errs);
  visit("n_mb_in_errs", scf.n_mb_in_errs);
  visit("n_mb_out_errs", scf.n_mb_out_errs);
  visit("n_alloc_errs", scf.n_alloc_errs);
  visit("ops", scf.ops);
  visit("online_attempts", scf.online_attempts);
  visit("online_successes", scf.online_successes);
  visit("offline_attempts", scf.offline_attempts);
  visit("offline_successes", scf.offline_successes);
  visit("hotplug_forgiven", scf.hotplug_forgiven);
  visit("min_online", scf.min_online);
  visit("max_online", scf.max_online);
  visit("min_offline", scf.min_offline);
  visit("max_offline", scf.max_offline);
  visit("sum_online", scf.sum_online);
  visit("sum_offline", scf.sum_offline);
}

// A whole number that fits; JSON would also give a part of a floating-point one.
template <typename Number>
void integer(const Json& json, Number& out) {
  const bool fits = std::is_signed_v<Number> ? json.is_number_integer() : json.is_number_unsigned();
  if (!fits) usage_error(json.dump() + " is not a whole number");
  json.get_to(out);
}

Json group_json(const Group& group) {
  const engine::Failure& failure = group.finding.failure;
  return {{"signature", group.finding.signature},
          {"count", group.count},
          {"execution", group.finding.execution},
          {"kind", engine::failure_kind_name(failure.kind)},
          {"id", failure.id},
          {"function", failure.function},
          {"message", failure.message},
          {"remark", group.finding.remark},
          {"replay", group.files.replay},
          {"report", group.files.report},
          {"stderr", group.files.standard_error}};
}

engine::FailureKind kind_of(const std::string& name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(engine::FailureKind::crash); i++) {
    const auto kind = static_cast<engine::FailureKind>(i);
    if (name == engine::failure_kind_name(kind)) return kind;
  }
  usage_error(quote(name) + " is not a kind of failure");
}

Group group_of(const Json& json) {
  Group group;
  engine::Failure& failure = group.finding.failure;
  json.at("signature").get_to(group.finding.signature);
  integer(json.at("count"), group.count);
  integer(json.at("execution"), group.finding.execution);
  failure.kind = kind_of(json.at("kind").get<std::string>());
  json.at("id").get_to(failure.id);
  json.at("function").get_to(failure.function);
  json.at("message").get_to(failure.message);
  json.at("remark").get_to(group.finding.remark);
  json.at("replay").get_to(group.files.replay);
  json.at("report").get_to(group.files.report);
  json.at("stderr").get_to(group.files.standard_error);
  group.finding.verified = true;
  return group;
}

Scenario scenario_of(const Json& json) {
  KeyValues pairs;
  std::string strategy;
  for (const auto& [key, value] : json.items()) {
    if (key == "strategy") {
      value.get_to(strategy);
    } else {
      pairs.emplace_back(key, value.get<std::string>());
    }
  }
  try {
    Scenario scenario = from_key_values(pairs);
    set_strategy(scenario, strategy);
    return scenario;
  } catch (const ScenarioError& error) {
    usage_error("scenario: " + error.message);
  }
}

RunState state_of(const Json& json) {
  RunState state;
  int64_t version = 0;
  integer(json.at("shootdown-state"), version);
  if (version != kVersion) {
    usage_error(fmt::format("its version is {}, this program knows {}", version, kVersion));
  }
  state.scenario = scenario_of(json.at("scenario"));
  const auto seed = parse_uint(json.at("seed").get<std::string>());
  if (!seed) usage_error("seed is not a number");
  state.seed = *seed;
  state.shard = parse_shard(json.at("shard").get<std::string>());
  if (const Json& duration = json.at("duration_ms"); !duration.is_null()) {
    int64_t ms = 0;
    integer(duration, ms);
    state.duration = milliseconds(ms);
  }
  if (const Json& executions = json.at("executions"); !executions.is_null()) {
    integer(executions, state.executions.emplace());
  }
  json.at("keep_going").get_to(state.keep_going);
  json.at("check_determinism").get_to(state.check_determinism);
  integer(json.at("next"), state.next);
  for (const Json& number : json.at("unfinished")) integer(number, state.unfinished.emplace_back());
  if (state.unfinished.size() > RunState::kMaxUnfinished) usage_error("unfinished is too long");
  int64_t elapsed_ms = 0;
  integer(json.at("elapsed_ms"), elapsed_ms);
  state.elapsed = milliseconds(elapsed_ms);
  const Json& totals = json.at("totals");
  visit_totals(state.totals,
               [&](const std::string& name, auto& value) { integer(totals.at(name), value); });
  for (const Json& group : json.at("failures")) state.groups.push_back(group_of(group));
  return state;
}

}  // namespace

std::string state_json(const RunState& state) {
  Json totals = Json::object();
  Totals copy = state.totals;
  visit_totals(copy, [&](const std::string& name, const auto& value) { totals[name] = value; });
  Json groups = Json::array();
  for (const Group& group : state.groups) groups.push_back(group_json(group));
  Json scenario = Json::object();
  for (const auto& [key, value] : to_key_values(state.scenario)) scenario[key] = value;
  scenario["strategy"] = state.scenario.strategy;
  const Json out = {{"shootdown-state", kVersion},
                    {"seed", fmt::format("{:#x}", state.seed)},
                    {"shard", state.shard.text()},
                    {"duration_ms", state.duration ? Json(state.duration->count()) : Json()},
                    {"executions", state.executions ? Json(*state.executions) : Json()},
                    {"keep_going", state.keep_going},
                    {"check_determinism", state.check_determinism},
                    {"next", state.next},
                    {"unfinished", state.unfinished},
                    {"elapsed_ms", state.elapsed.count()},
                    {"totals", totals},
                    {"failures", groups},
                    {"scenario", scenario}};
  // A message never breaks the file, whatever bytes are in it.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunState parse_state(const std::string& text, const std::string& name) {
  try {
    return state_of(Json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    usage_error(name + " is not the state of a run: " + error.what());
  } catch (const UserError& error) {
    usage_error(name + " is not the state of a run: " + error.what());
  }
}

std::string state_path(const std::string& dir) {
  return dir + "/state.json";
}

RunState load_state(const std::string& dir) {
  std::string error;
  const auto text = read_file(state_path(dir), kMaxBytes, &error);
  if (!text) usage_error(state_path(dir) + ": " + error + "; name the --out directory of a run");
  return parse_state(*text, state_path(dir));
}

void finish_groups(std::vector<Group>* groups, Totals* totals) {
  std::sort(groups->begin(), groups->end(), [](const Group& a, const Group& b) {
    return a.finding.execution < b.finding.execution;
  });
  totals->failures = 0;
  for (const Group& group : *groups) totals->failures += group.count;
}

void merge_groups(std::vector<Group>* groups, const std::vector<Group>& others) {
  for (const Group& other : others) {
    const auto at = std::find_if(groups->begin(), groups->end(), [&](const Group& group) {
      return group.finding.signature == other.finding.signature;
    });
    if (at == groups->end()) {
      groups->push_back(other);
      continue;
    }
    const uint64_t count = at->count + other.count;
    if (other.finding.execution < at->finding.execution) *at = other;
    at->count = count;
  }
}

}  // namespace sd::torture
