// The hand-off: the common yardstick of tools that search schedules. Two senders, each with a call
// descriptor of its own, and a target, without CPUs: a sender takes its descriptor (compare and
// exchange, acquire), fills it in, pushes it on the target's list (relaxed load, compare and
// exchange with release), waits until it is unlocked (acquire) and checks the result; the target
// waits for a list (relaxed), takes all of it (exchange, acquire), runs each call and unlocks its
// descriptor (store, release).
#pragma once

#include <cstdint>

#include "core/engine/contexts.h"

namespace sd::torture {

class Handoff {
 public:
  static constexpr unsigned kSenders = 2;

  // What of it is broken, for tests.
  enum class Plant : uint8_t { none, lost_unlock, torn_push };

  explicit Handoff(unsigned rounds, Plant plant = Plant::none) : rounds_(rounds), plant_(plant) {}

  struct Outcome {
    engine::Contexts::Outcome contexts;
    unsigned wrong_results = 0;
    bool ok() const { return !contexts.deadlock && !contexts.livelock && wrong_results == 0; }
  };
  Outcome run(engine::Contexts& contexts, engine::Chooser& chooser);

 private:
  struct alignas(64) Descriptor {
    Descriptor* next;
    uint32_t locked;
    uint32_t (*func)(uint32_t info);
    uint32_t info;
    uint32_t result;
  };
  struct Role {
    Handoff* handoff;
    unsigned sender;  // kSenders: the target
  };

  static void role(void* argument);
  void send(unsigned sender);
  void serve();

  unsigned rounds_;
  Plant plant_;
  engine::Contexts* contexts_ = nullptr;
  alignas(64) Descriptor* list_ = nullptr;
  Descriptor descriptors_[kSenders] = {};
  unsigned wrong_results_ = 0;
};

}  // namespace sd::torture
