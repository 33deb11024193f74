#include "torture/summary.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "core/machine/machine.h"
#include "torture/build_info.h"
#include "torture/console.h"
#include "torture/files.h"
#include "torture/scf/stats_line.h"
#include "torture/user_error.h"

namespace sd::torture {

namespace {

using Json = nlohmann::ordered_json;

// Attempts that failed by injection are in neither column.
Json onoff_json(const scf::ScfStats& scf) {
  return {{"online", {{"attempts", scf.online_attempts}, {"successes", scf.online_successes}}},
          {"offline", {{"attempts", scf.offline_attempts}, {"successes", scf.offline_successes}}},
          {"forgiven", scf.hotplug_forgiven}};
}

Json operations_json(const scf::ScfStats& scf) {
  Json out = Json::object();
  for (unsigned i = 0; i < scf::kPrims; i++) {
    // "weight_single_wait" without its first word
    const std::string name =
        std::string(scf::prim_weight_name(static_cast<scf::Prim>(i))).substr(7);
    out[name] = {{"attempts", scf.n[i]}, {"offline", scf.n_ofl[i]}};
  }
  return out;
}

Json failures_json(const RunResult& result) {
  Json out = Json::array();
  for (const Group& group : result.groups) {
    const engine::Failure& failure = group.finding.failure;
    out.push_back({{"signature", group.finding.signature},
                   {"count", group.count},
                   {"replay", group.files.replay},
                   {"kind", engine::failure_kind_name(failure.kind)},
                   {"id", failure.id},
                   {"function", failure.function},
                   {"message", failure.message},
                   {"execution", group.finding.execution},
                   {"remark", group.finding.remark}});
  }
  return out;
}

Json scenario_json(const Scenario& scenario) {
  Json out = Json::object();
  for (const auto& [key, value] : to_key_values(scenario)) out[key] = value;
  out["strategy"] = scenario.strategy;
  return out;
}

}  // namespace

std::string json_remedy(const std::string& path, const std::string& error) {
  return "--json " + path + " cannot be written: " + error +
         "; name a file in a directory that exists, with some space";
}

void check_json_path(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string dir =
      slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  const std::string error = is_directory(path) ? "Is a directory" : probe_directory(dir);
  if (!error.empty()) environment_error(json_remedy(path, error));
}

void write_json(const std::string& path, const std::string& text) {
  const std::string error = write_file(path, text);
  if (!error.empty()) environment_error(json_remedy(path, error));
}

std::string summary_json(const TortureOptions& options, const RunResult& result) {
  const Totals& totals = result.totals;
  const double seconds = static_cast<double>(result.elapsed.count()) / 1000;
  const auto per_second = [&](uint64_t n) {
    return seconds > 0 ? static_cast<double>(n) / seconds : 0;
  };
  const Json out = {{"kind", "scf"},
                    {"verdict", scf::verdict_name(run_verdict(result))},
                    {"seed", fmt::format("{:#x}", *options.seed)},
                    {"executions", totals.executions},
                    {"ops", totals.scf.ops},
                    {"steps", totals.steps},
                    {"choices", totals.choices},
                    {"trace_hash", fmt::format("{:#018x}", totals.trace_hash)},
                    {"virtual_seconds", static_cast<double>(totals.virtual_ns) / 1e9},
                    {"seconds", seconds},
                    {"executions_per_second", per_second(totals.executions)},
                    {"steps_per_second", per_second(totals.steps)},
                    {"jobs", options.jobs},
                    {"interrupted", result.interrupted},
                    {"errors", totals.failures},
                    {"failures", failures_json(result)},
                    {"onoff", onoff_json(totals.scf)},
                    {"operations", operations_json(totals.scf)},
                    {"handlers", totals.scf.invoked},
                    {"ipis", totals.ipis},
                    {"superfluous_ipis", totals.superfluous_ipis},
                    {"build", build_info()},
                    {"scenario", scenario_json(options.scenario)}};
  // A signature or a message never breaks the file, whatever bytes are in it.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sd::torture
