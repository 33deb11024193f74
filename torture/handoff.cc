#include "torture/handoff.h"

namespace sd::torture {

namespace {

using engine::Order;

uint32_t twice(uint32_t info) {
  return 2 * info;
}

uint64_t word(const void* p) {
  return reinterpret_cast<uintptr_t>(p);
}

}  // namespace

Handoff::Outcome Handoff::run(engine::Contexts& contexts, engine::Chooser& chooser) {
  contexts_ = &contexts;
  list_ = nullptr;
  for (Descriptor& d : descriptors_) d = {};
  wrong_results_ = 0;
  Role roles[kSenders + 1];
  std::vector<void*> arguments;
  for (unsigned i = 0; i <= kSenders; i++) {
    roles[i] = {this, i};
    arguments.push_back(&roles[i]);
  }
  Outcome outcome;
  outcome.contexts = contexts.run(chooser, role, arguments);
  outcome.wrong_results = wrong_results_;
  return outcome;
}

void Handoff::role(void* argument) {
  const Role& role = *static_cast<Role*>(argument);
  if (role.sender == kSenders) {
    role.handoff->serve();
  } else {
    role.handoff->send(role.sender);
  }
}

void Handoff::send(unsigned sender) {
  Descriptor& d = descriptors_[sender];
  for (uint32_t round = 1; round <= rounds_; round++) {
    uint64_t unlocked = 0;
    while (!contexts_->compare_exchange(&d.locked, &unlocked, 1, 4, Order::acquire)) {
      contexts_->wait(&d.locked, 4, unlocked);
      unlocked = 0;
    }
    d.func = twice;
    d.info = 10 * sender + round;
    uint64_t head = contexts_->load(&list_, 8, Order::relaxed);
    if (plant_ == Plant::torn_push) {
      d.next = reinterpret_cast<Descriptor*>(head);
      contexts_->store(&list_, word(&d), 8, Order::release);
    } else {
      do {
        d.next = reinterpret_cast<Descriptor*>(head);
      } while (!contexts_->compare_exchange(&list_, &head, word(&d), 8, Order::release));
    }
    uint64_t locked;
    while ((locked = contexts_->load(&d.locked, 4, Order::acquire)) != 0)
      contexts_->wait(&d.locked, 4, locked);
    if (d.result != 2 * (10 * sender + round)) wrong_results_++;
  }
}

void Handoff::serve() {
  for (unsigned served = 0; served < kSenders * rounds_;) {
    while (contexts_->load(&list_, 8, Order::relaxed) == 0) contexts_->wait(&list_, 8, 0);
    auto* d = reinterpret_cast<Descriptor*>(contexts_->exchange(&list_, 0, 8, Order::acquire));
    while (d != nullptr) {
      Descriptor* next = d->next;
      const uint32_t info = d->info;
      const auto func = d->func;
      d->result = func(info);
      if (plant_ != Plant::lost_unlock) contexts_->store(&d->locked, 0, 4, Order::release);
      served++;
      d = next;
    }
  }
}

}  // namespace sd::torture
