#include "core/engine/trace.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace sd::engine {
namespace {

constexpr EventId kPlain = 240;    // both values hashed
constexpr EventId kPointer = 241;  // both values pointers

class TraceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    register_event(kPlain, {"plain", "a", "b", true, true});
    register_event(kPointer, {"pointer", "a", "b", false, false});
  }

  static Event make(EventId id, uint64_t a = 0, uint64_t b = 0) {
    Event event;
    event.id = id;
    event.a = a;
    event.b = b;
    return event;
  }

  static uint64_t hash_of(const std::vector<Event>& events) {
    Trace trace;
    trace.begin();
    for (const Event& event : events) trace.emit(event);
    return trace.hash();
  }
};

class Listener : public Observer {
 public:
  explicit Listener(std::vector<EventId> interests) : interests_(std::move(interests)) {}
  const char* name() const override { return "listener"; }
  std::vector<EventId> interests() const override { return interests_; }
  void on_begin() override { ++begins; }
  void on_event(const Event& event) override { seen.push_back(event.a); }
  void on_end() override { ++ends; }

  int begins = 0, ends = 0;
  std::vector<uint64_t> seen;

 private:
  std::vector<EventId> interests_;
};

TEST_F(TraceTest, HashDependsOnIdAndPlaceAndValuesAndOrder) {
  const uint64_t base = hash_of({make(kPlain, 1, 2)});
  EXPECT_EQ(base, hash_of({make(kPlain, 1, 2)}));
  EXPECT_NE(base, hash_of({make(kPlain, 1, 3)}));
  EXPECT_NE(base, hash_of({make(kPlain, 2, 1)}));
  EXPECT_NE(base, hash_of({make(kPointer, 1, 2)}));
  EXPECT_NE(hash_of({make(kPlain, 1), make(kPlain, 2)}),
            hash_of({make(kPlain, 2), make(kPlain, 1)}));
  EXPECT_NE(hash_of({}), hash_of({make(0)}));
  EXPECT_NE(hash_of({make(0)}), hash_of({make(0), make(0)}));
  for (const auto& change : std::vector<std::function<void(Event&)>>{
           [](Event& e) { e.cpu = 1; }, [](Event& e) { e.task = 1; },
           [](Event& e) { e.irq_depth = 1; }}) {
    Event event = make(kPlain, 1, 2);
    change(event);
    EXPECT_NE(base, hash_of({event}));
  }
}

TEST_F(TraceTest, HashDependsOnNoPointerNorClock) {
  int object;
  Event event = make(kPointer, 0x7fff00001000u, 0);
  event.obj = &object;
  event.function = "somewhere";
  event.step = 7;
  event.time_ns = 7;
  const uint64_t base = hash_of({make(kPointer, 0xffff888000000000u, 0)});
  EXPECT_EQ(base, hash_of({event}));
  EXPECT_NE(base, hash_of({make(kPointer, 0, 0)})) << "null or not null is part of the hash";
}

TEST_F(TraceTest, MemoryOperationsHashNoValueThatMayBeAPointer) {
  for (const EventId id : {event::load, event::store, event::rmw, event::cmpxchg_fail}) {
    EXPECT_EQ(hash_of({make(id, 0x7fff00001000u, 8)}), hash_of({make(id, 0x5555000u, 8)}))
        << int{id};
    EXPECT_NE(hash_of({make(id, 17, 8)}), hash_of({make(id, 1, 8)}))
        << "small numbers are no pointers";
    EXPECT_NE(event_format(id).name, nullptr);
  }
  EXPECT_NE(hash_of({make(event::load, 1, 4)}), hash_of({make(event::load, 1, 8)}));
  EXPECT_NE(hash_of({make(event::alloc, 1)}), hash_of({make(event::alloc, 2)}));
  EXPECT_STREQ(event_format(event::fence).name, "fence");
  EXPECT_STREQ(event_format(event::free).name, "free");
}

TEST_F(TraceTest, MixedDecisionsEnterTheHash) {
  Trace a, b;
  a.begin();
  b.begin();
  a.mix(0);
  EXPECT_NE(a.hash(), b.hash());
  b.mix(0);
  EXPECT_EQ(a.hash(), b.hash());
}

TEST_F(TraceTest, BeginStartsAnewAndTellsObservers) {
  Listener listener({kPlain});
  Trace trace;
  trace.attach(&listener);
  trace.begin();
  const uint64_t fresh = trace.hash();
  trace.emit(make(kPlain, 1));
  trace.end();
  trace.begin();
  EXPECT_EQ(trace.hash(), fresh);
  EXPECT_EQ(trace.count(), 0u);
  EXPECT_TRUE(trace.last(10).empty());
  EXPECT_EQ(listener.begins, 2);
  EXPECT_EQ(listener.ends, 1);
}

TEST_F(TraceTest, ObserversGetWhatInterestsThemOnceAndNothingElse) {
  Listener plain({kPlain, kPlain}), pointer({kPointer}), nothing({});
  Trace trace;
  trace.attach(&plain);
  trace.attach(&pointer);
  trace.attach(&nothing);
  trace.begin();
  trace.emit(make(kPlain, 1));
  trace.emit(make(kPointer, 2));
  trace.emit(make(kPlain, 3));
  EXPECT_EQ(plain.seen, (std::vector<uint64_t>{1, 3}));
  EXPECT_EQ(pointer.seen, (std::vector<uint64_t>{2}));
  EXPECT_TRUE(nothing.seen.empty());
  trace.detach_all();
  trace.emit(make(kPlain, 4));
  EXPECT_EQ(plain.seen.size(), 2u);
}

TEST_F(TraceTest, TheRingKeepsTheLastEventsOldestFirst) {
  Trace trace;
  trace.begin();
  for (uint64_t i = 0; i < 3; ++i) trace.emit(make(kPlain, i));
  EXPECT_EQ(trace.last(100).size(), 3u);
  for (uint64_t i = 3; i < Trace::kRingSize + 10; ++i) trace.emit(make(kPlain, i));
  const std::vector<Event> last = trace.last(4);
  ASSERT_EQ(last.size(), 4u);
  EXPECT_EQ(last.front().a, Trace::kRingSize + 6);
  EXPECT_EQ(last.back().a, Trace::kRingSize + 9);
  EXPECT_EQ(trace.recent(0).a, last.back().a);
  EXPECT_EQ(trace.recent(1).a, last[2].a);
  EXPECT_EQ(trace.last(~0u).size(), Trace::kRingSize);
  EXPECT_EQ(trace.last(~0u).front().a, 10u);
}

TEST_F(TraceTest, AFormatMayBeRegisteredAgainButNotForSomethingElse) {
  register_event(kPlain, {"plain", "a", "b", true, true});
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(register_event(kPlain, {"other", "a", "b", true, true}), "internal error");
}

}  // namespace
}  // namespace sd::engine
