#include "core/engine/priority_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/engine/rng.h"

namespace sd::engine {
namespace {

constexpr uint32_t kIds = 300;

void enable(ActionSet& actions, uint32_t id) {
  actions.enable(id, ActionClass::advance, OpKind::none, nullptr);
}

// The highest priority of all enabled actions, the slow way.
uint32_t highest(const ActionSet& actions, const PriorityQueue& queue) {
  uint32_t best = 0;
  for (const Action& action : actions) best = std::max(best, queue.get(action.id));
  return best;
}

TEST(PriorityQueue, TopIsTheHighestWhateverCameWentAndChanged) {
  Rng rng(1);
  PriorityQueue queue;
  for (int execution = 0; execution < 20; ++execution) {
    ActionSet actions;
    actions.reset(kIds);
    enable(actions, 0);
    queue.begin();
    for (int step = 0; step < 5000; ++step) {
      // At times more changes at once than the set remembers.
      const uint32_t changes = rng.below(50) == 0 ? 600 : rng.below(3);
      for (uint32_t i = 0; i < changes; ++i) {
        const uint32_t id = rng.below(kIds);
        rng.below(2) == 0 ? enable(actions, id) : actions.disable(id);
      }
      if (actions.empty()) enable(actions, 1);
      queue.follow(actions, [&](const Action&) { return 1 + rng.below(1000); });
      ASSERT_TRUE(actions.enabled(queue.top()));
      ASSERT_EQ(queue.get(queue.top()), highest(actions, queue)) << execution << " " << step;
      queue.set(rng.below(kIds), 1 + rng.below(1000));  // enabled or not
      ASSERT_EQ(queue.get(queue.top()), highest(actions, queue)) << execution << " " << step;
    }
  }
}

TEST(PriorityQueue, AnActionKeepsItsPriorityWhileItIsNotEnabled) {
  ActionSet actions;
  actions.reset(2);
  enable(actions, 0);
  enable(actions, 1);
  uint32_t asked = 0;
  const auto first = [&](const Action& action) { return ++asked, 10 + action.id; };
  PriorityQueue queue;
  queue.begin();
  queue.follow(actions, first);
  EXPECT_EQ(queue.top(), 1u);
  actions.disable(1);
  queue.follow(actions, first);
  EXPECT_EQ(queue.top(), 0u);
  queue.set(1, 5);
  enable(actions, 1);
  queue.follow(actions, first);
  EXPECT_EQ(queue.top(), 0u);
  EXPECT_EQ(queue.get(1), 5u);
  EXPECT_EQ(asked, 2u);
}

TEST(PriorityQueue, BeginForgetsPriorities) {
  ActionSet actions;
  actions.reset(1);
  enable(actions, 0);
  PriorityQueue queue;
  for (uint32_t priority = 1; priority < 4; ++priority) {
    queue.begin();
    EXPECT_EQ(queue.get(0), 0u);
    queue.follow(actions, [&](const Action&) { return priority; });
    EXPECT_EQ(queue.get(0), priority);
  }
}

TEST(PriorityQueue, NoticesThatTheSetWasResetOrIsAnother) {
  ActionSet one, other;
  for (ActionSet* actions : {&one, &other}) {
    actions->reset(3);
    enable(*actions, actions == &one ? 1 : 2);
  }
  const auto by_id = [](const Action& action) { return action.id + 1; };
  PriorityQueue queue;
  queue.begin();
  queue.follow(one, by_id);
  EXPECT_EQ(queue.top(), 1u);
  queue.follow(other, by_id);
  EXPECT_EQ(queue.top(), 2u);
  other.reset(3);
  enable(other, 0);
  queue.follow(other, by_id);
  EXPECT_EQ(queue.top(), 0u);
}

}  // namespace
}  // namespace sd::engine
