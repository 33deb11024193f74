// The calmest execution: always answer 0. What an empty choice list replays to, and the base line
// that every scenario must survive.
#pragma once

#include "core/engine/chooser.h"

namespace sd::engine {

class Calm final : public Chooser {
 public:
  void begin(uint64_t) override {}
  uint32_t pick(const ActionSet&) override { return 0; }
  uint32_t number(uint32_t, Purpose) override { return 0; }
  const char* description() const override { return "calm"; }
};

}  // namespace sd::engine
