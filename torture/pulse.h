// Choosers that look on: they hand every question to another chooser and do something beside it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "core/engine/chooser.h"

namespace sd::torture {

// Counts choices where another process can see that there are some.
class Pulse final : public engine::Chooser {
 public:
  Pulse(engine::Chooser* inner, std::atomic<uint64_t>* count) : inner_(inner), count_(count) {}

  void begin(uint64_t seed) override { inner_->begin(seed); }
  uint32_t pick(const engine::ActionSet& actions) override {
    beat();
    return inner_->pick(actions);
  }
  uint32_t number(uint32_t n, engine::Purpose purpose) override {
    beat();
    return inner_->number(n, purpose);
  }
  const char* description() const override { return inner_->description(); }

 private:
  // One writer: no need for a locked instruction.
  void beat() {
    count_->store(count_->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  engine::Chooser* inner_;
  std::atomic<uint64_t>* count_;
};

}  // namespace sd::torture
