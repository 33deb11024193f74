#include "core/engine/strategy.h"

#include <charconv>

#include "core/engine/calm.h"
#include "core/engine/mix.h"
#include "core/engine/pct.h"
#include "core/engine/pos.h"
#include "core/engine/random_walk.h"
#include "core/engine/swarm.h"

namespace sd::engine {
namespace {

// The depth in "pct:DEPTH", or 0.
uint32_t parse_depth(std::string_view spec) {
  constexpr std::string_view kPrefix = "pct:";
  if (spec.substr(0, kPrefix.size()) != kPrefix) return 0;
  uint32_t depth = 0;
  const char* end = spec.data() + spec.size();
  const auto result = std::from_chars(spec.data() + kPrefix.size(), end, depth);
  return result.ec == std::errc() && result.ptr == end && depth <= Pct::kMaxDepth ? depth : 0;
}

// User input goes into a message of one line.
std::string printable(std::string_view text) {
  constexpr size_t kShown = 40;
  std::string out;
  for (const char c : text.substr(0, kShown)) out += c >= ' ' && c <= '~' ? c : '?';
  if (text.size() > kShown) out += "...";
  return out;
}

}  // namespace

std::unique_ptr<Chooser> make_strategy(std::string_view spec, std::string* error) {
  if (spec == "random") return std::make_unique<RandomWalk>();
  if (spec == "calm") return std::make_unique<Calm>();
  if (spec == "pos") return std::make_unique<Pos>();
  if (spec == "swarm") return std::make_unique<Swarm>();
  if (spec == "mix") return std::make_unique<Mix>();
  if (const uint32_t depth = parse_depth(spec); depth != 0) return std::make_unique<Pct>(depth);
  if (error != nullptr) {
    *error = "unknown strategy '" + printable(spec) + "': expected one of " + kStrategySpecs;
  }
  return nullptr;
}

}  // namespace sd::engine
