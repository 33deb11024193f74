#include "core/engine/contexts.h"

namespace sd::engine {

namespace {

Contexts* running = nullptr;  // whose contexts run; they are one at a time

}  // namespace

Contexts::Contexts() : fibers_(kMax, on_return) {}

Contexts::~Contexts() = default;

void Contexts::entry(void* self) {
  const auto* context = static_cast<Context*>(self);
  running->body_(context->argument);
}

void Contexts::on_return() {
  Contexts& self = *running;
  self.contexts_[self.current_].ended = true;
  self.leave();
}

Contexts::Outcome Contexts::run(Chooser& chooser, Body body, const std::vector<void*>& arguments) {
  SD_CHECK(running == nullptr && !arguments.empty() && arguments.size() <= kMax);
  running = this;
  chooser_ = &chooser;
  body_ = body;
  count_ = static_cast<uint32_t>(arguments.size());
  waiting_ = 0;
  steps_ = 0;
  memory_.reset(count_);
  if (actions_.capacity() != kMax) actions_.reset(kMax);
  for (uint32_t i = 0; i < count_; i++) {
    Context& context = contexts_[i];
    context.fiber = fibers_.acquire();
    context.argument = arguments[i];
    context.waits_for = nullptr;
    context.ended = false;
    context.fiber->start(entry, &context);
    actions_.enable(i, ActionClass::advance, OpKind::begin, nullptr);
  }
  actions_.set_calm(0);
  current_ = actions_.size() == 1 ? 0 : actions_.at(chooser.pick(actions_)).id;
  Fiber::switch_to(Fiber::driver(), contexts_[current_].fiber);

  Outcome outcome;
  outcome.steps = steps_;
  outcome.livelock = steps_ == kMostSteps;
  outcome.deadlock = waiting_ != 0 && !outcome.livelock;
  for (uint32_t i = 0; i < count_; i++) {
    if (contexts_[i].ended) {
      fibers_.release(contexts_[i].fiber);
    } else {
      actions_.disable(i);
      fibers_.abandon(contexts_[i].fiber);
    }
  }
  running = nullptr;
  return outcome;
}

void Contexts::wait(const volatile void* p, unsigned size, uint64_t value) {
  if (Memory::peek(p, size) != value) return;
  steps_++;
  waiting_++;
  contexts_[current_].waits_for = p;
  leave();
}

void Contexts::leave() {
  Fiber* from = contexts_[current_].fiber;
  actions_.disable(current_);
  if (actions_.empty()) {
    Fiber::switch_to(from, Fiber::driver());
    return;
  }
  actions_.set_calm(actions_.begin()->id);
  current_ = actions_.size() == 1 ? actions_.begin()->id : actions_.at(chooser_->pick(actions_)).id;
  Fiber::switch_to(from, contexts_[current_].fiber);
}

void Contexts::wake(const volatile void* p) {
  for (uint32_t i = 0; i < count_; i++) {
    if (contexts_[i].waits_for != p) continue;
    contexts_[i].waits_for = nullptr;
    waiting_--;
    actions_.enable(i, ActionClass::advance, OpKind::load, p);
  }
}

}  // namespace sd::engine
