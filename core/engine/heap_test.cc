#include "core/engine/heap.h"

#include <gtest/gtest.h>

#include <cstring>

namespace sd::engine {
namespace {

// Whichever end of its space memory comes from, the heap knows what is where.
class EitherWay : public testing::TestWithParam<bool> {
 protected:
  EitherWay() { heap_.grow_downwards(GetParam()); }
  char* allocate(size_t size) { return static_cast<char*>(heap_.allocate(size, "thing", {})); }

  Space space_;
  Heap heap_{&space_};
};
INSTANTIATE_TEST_SUITE_P(Heap, EitherWay, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "Downwards" : "Upwards");
});

TEST_P(EitherWay, LaterObjectsLieOnOneSide) {
  const char* first = allocate(100);
  const char* second = allocate(1);
  const char* third = allocate(5000);
  EXPECT_EQ(second < first, GetParam());
  EXPECT_EQ(third < second, GetParam());
}

TEST_P(EitherWay, FindsTheObjectOfAnAddress) {
  const char* objects[] = {allocate(100), allocate(1), allocate(5000)};
  for (size_t i = 0; i < 3; i++) {
    ASSERT_NE(heap_.find(objects[i]), nullptr);
    EXPECT_EQ(heap_.number_of(heap_.find(objects[i])), i);
  }
  EXPECT_EQ(heap_.number_of(heap_.find(objects[0] + 99)), 0u);
  EXPECT_EQ(heap_.number_of(heap_.find(objects[2] + 4999)), 2u);
}

TEST_P(EitherWay, KnowsWhatMustNotBeTouched) {
  char* freed = allocate(64);
  const char* live = allocate(64);
  EXPECT_EQ(heap_.bad_access(live, 8), nullptr);
  EXPECT_EQ(heap_.bad_access(live + 56, 8), nullptr);
  EXPECT_NE(heap_.bad_access(live + 60, 8), nullptr);
  EXPECT_NE(heap_.bad_access(live + 64, 1), nullptr);
  EXPECT_EQ(heap_.free(freed, {}), Heap::FreeResult::ok);
  EXPECT_NE(heap_.bad_access(freed, 8), nullptr);
  EXPECT_EQ(heap_.free(freed, {}), Heap::FreeResult::double_free);
  EXPECT_EQ(heap_.free(freed + 8, {}), Heap::FreeResult::not_an_object);
  EXPECT_NE(heap_.bad_access(space_.heap() + Space::kHeapSize / 2, 8), nullptr);
}

#if !defined(SD_ASAN)  // which ends the process
TEST_P(EitherWay, SeesWhatWasWrittenPastAnEnd) {
  allocate(10);
  char* object = allocate(10);
  EXPECT_EQ(heap_.corrupted(), nullptr);
  object[10] = 1;
  ASSERT_NE(heap_.corrupted(), nullptr);
  EXPECT_EQ(heap_.number_of(heap_.corrupted()), 1u);
}
#endif

TEST_P(EitherWay, ForgetsWhoUsedItsLines) {
  const char* object = allocate(64);
  space_.line_user(space_.offset_of(object)) = 7;
  heap_.reset();
  EXPECT_EQ(space_.line_user(space_.offset_of(object)), 0);
  EXPECT_EQ(allocate(64), object);
}

TEST(Space, ChangesItsPlaceThereAndBack) {
  Space space;
  char* const first = space.heap();
  const size_t offset = space.offset_of(first);
  first[0] = 1;
  space.change_place();
  EXPECT_NE(space.heap(), first);
  EXPECT_EQ(space.offset_of(space.heap()), offset);
  space.heap()[0] = 2;
  space.change_place();
  EXPECT_EQ(space.heap(), first);
  EXPECT_EQ(first[0], 1);
}

}  // namespace
}  // namespace sd::engine
