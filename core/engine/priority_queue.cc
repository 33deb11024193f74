#include "core/engine/priority_queue.h"

namespace sd::engine {

PriorityQueue::PriorityQueue()
    : cells_(static_cast<Cell*>(std::calloc(kMaxIds, sizeof(Cell)))),
      heap_(static_cast<Item*>(std::calloc(kMaxIds + 1, sizeof(Item)))) {
  SD_CHECK(cells_ != nullptr && heap_ != nullptr);
}

void PriorityQueue::begin() {
  if (++age_ == 0) {
    for (uint32_t id = 0; id < kMaxIds; ++id) cells_[id].age = 0;
    age_ = 1;
  }
  actions_ = nullptr;
}

void PriorityQueue::start_over(const ActionSet& actions) {
  SD_CHECK(actions.capacity() <= kMaxIds);
  if (actions_ != nullptr) {
    for (uint32_t place = 1; place <= size_; ++place) cell(heap_[place].id).place = 0;
  }
  size_ = 0;
  actions_ = &actions;
  seen_ = actions.changes();
}

void PriorityQueue::set(uint32_t id, uint32_t priority) {
  Cell& own = cell(id);
  own.priority = priority;
  if (own.place != 0) put(Item{priority, id}, own.place);
}

void PriorityQueue::remove(uint32_t id) {
  Cell& own = cell(id);
  const uint32_t place = own.place;
  if (place == 0) return;
  own.place = 0;
  const Item last = heap_[size_--];
  if (last.id != id) put(last, place);
}

void PriorityQueue::put(Item item, uint32_t place) {
  for (; place > 1 && heap_[place / 2].priority < item.priority; place /= 2) {
    heap_[place] = heap_[place / 2];
    cells_[heap_[place].id].place = place;
  }
  for (uint32_t child = 2 * place; child <= size_; child = 2 * place) {
    if (child < size_ && heap_[child + 1].priority > heap_[child].priority) ++child;
    if (heap_[child].priority <= item.priority) break;
    heap_[place] = heap_[child];
    cells_[heap_[place].id].place = place;
    place = child;
  }
  heap_[place] = item;
  cells_[item.id].place = place;
}

}  // namespace sd::engine
