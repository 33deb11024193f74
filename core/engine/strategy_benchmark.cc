// What a pick costs, by strategy and number of enabled actions: half of them contexts, a quarter
// deliveries, a quarter disturbances. As many addresses as actions: most events race with nothing.
#include "core/engine/strategy.h"

#include <benchmark/benchmark.h>

#include "core/engine/rng.h"

namespace sd::engine {
namespace {

int words[256];

void enable(ActionSet& actions, uint32_t id, Rng& rng) {
  constexpr OpKind kOps[] = {OpKind::none, OpKind::load, OpKind::store, OpKind::rmw};
  const ActionClass cls = id % 4 < 2    ? ActionClass::advance
                          : id % 4 == 2 ? ActionClass::deliver
                                        : ActionClass::disturb;
  actions.enable(id, cls, kOps[rng.below(4)], &words[rng.below(actions.capacity())]);
}

void pick(benchmark::State& state, const char* spec) {
  const auto chooser = make_strategy(spec, nullptr);
  const uint32_t enabled = static_cast<uint32_t>(state.range(0));
  ActionSet actions;
  actions.reset(enabled);
  Rng rng(1);
  for (uint32_t id = 0; id < enabled; ++id) enable(actions, id, rng);
  actions.set_calm(0);
  uint64_t seed = 0;
  uint32_t left = 0;
  for (auto _ : state) {
    if (left-- == 0) {  // an execution of ordinary length, so that drawn parameters vary
      chooser->begin(++seed);
      left = 10'000;
    }
    const uint32_t id = actions.at(chooser->pick(actions)).id;
    enable(actions, id, rng);
    actions.set_calm(id);
  }
}

BENCHMARK_CAPTURE(pick, calm, "calm")->Arg(8)->Arg(256);
BENCHMARK_CAPTURE(pick, random, "random")->Arg(8)->Arg(256);
BENCHMARK_CAPTURE(pick, pct3, "pct:3")->Arg(8)->Arg(256);
BENCHMARK_CAPTURE(pick, pos, "pos")->Arg(8)->Arg(256);
BENCHMARK_CAPTURE(pick, mix, "mix")->Arg(8)->Arg(256);

}  // namespace
}  // namespace sd::engine
