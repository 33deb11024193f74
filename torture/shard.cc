#include "torture/shard.h"

#include <cstdlib>
#include <numeric>
#include <optional>

#include "torture/parse.h"
#include "torture/user_error.h"

namespace sd::torture {

namespace {

constexpr uint64_t kMaxShards = 1'000'000;

std::optional<uint64_t> from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? parse_uint(text) : std::nullopt;
}

// SLURM_ARRAY_TASK_ID goes from _MIN in steps of _STEP, _COUNT times.
std::optional<Shard> of_slurm() {
  const auto id = from_environment("SLURM_ARRAY_TASK_ID");
  const auto count = from_environment("SLURM_ARRAY_TASK_COUNT");
  if (!id || !count) return std::nullopt;
  const uint64_t min = from_environment("SLURM_ARRAY_TASK_MIN").value_or(0);
  const uint64_t step = from_environment("SLURM_ARRAY_TASK_STEP").value_or(1);
  if (step == 0 || *id < min || (*id - min) % step != 0) return std::nullopt;
  return Shard{(*id - min) / step, *count};
}

}  // namespace

uint64_t Shard::share_of(uint64_t executions) const {
  return executions <= index ? 0 : (executions - index - 1) / count + 1;
}

bool Shard::meets(const Shard& other) const {
  const uint64_t common = std::gcd(count, other.count);
  return index % common == other.index % common;
}

std::string Shard::text() const {
  return std::to_string(index + 1) + "/" + std::to_string(count);
}

Shard parse_shard(const std::string& text) {
  const size_t slash = text.find('/');
  const std::string index_text = text.substr(0, slash);
  std::optional<uint64_t> count;
  if (slash != std::string::npos) count = parse_uint(std::string_view(text).substr(slash + 1));
  std::optional<Shard> shard;
  if (index_text != "auto") {
    const auto index = parse_uint(index_text);
    if (index && count && *index > 0) shard = Shard{*index - 1, *count};
  } else if (slash == std::string::npos) {
    shard = of_slurm();
    if (!shard) {
      usage_error(
          "'auto' is for a task of a Slurm array, but SLURM_ARRAY_TASK_ID and its like are "
          "not set, or not as Slurm sets them");
    }
  } else if (count) {
    const auto index = from_environment("JOB_COMPLETION_INDEX");
    if (!index) {
      usage_error(
          "'auto/N' is for a pod of a Kubernetes indexed job, but JOB_COMPLETION_INDEX is "
          "not set, or not a number");
    }
    shard = Shard{*index, *count};
  }
  if (!shard || shard->index >= shard->count || shard->count > kMaxShards) {
    usage_error(quote(text) + " is not I/N with I from 1 to N, N up to " +
                std::to_string(kMaxShards) + ", nor auto (Slurm), nor auto/N (Kubernetes)");
  }
  return *shard;
}

}  // namespace sd::torture
