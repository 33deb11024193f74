// Lock-less single-linked list (include/linux/llist.h). Adders and takers of the whole
// list need no lock.
#pragma once

#include "core/kernel/atomic.h"

namespace sd::kernel {

struct llist_node {
  llist_node* next;
};
struct llist_head {
  llist_node* first;
};

static inline void init_llist_head(llist_head* list) {
  list->first = nullptr;
}
// A racy hint only.
static inline bool llist_empty(const llist_head* head, const char* fn = __builtin_FUNCTION()) {
  return load_marked(&head->first, sd_relaxed, fn) == nullptr;
}

// Adds node; returns whether the list was empty before. The successful exchange has `order`
// (full in the kernel).
static inline bool llist_add(llist_node* node, llist_head* head, sd_order order = sd_full,
                             const char* fn = __builtin_FUNCTION()) {
  llist_node* first = load_marked(&head->first, sd_relaxed, fn);
  do {
    node->next = first;
  } while (!try_cmpxchg(&head->first, &first, node, order, fn));
  return first == nullptr;
}

// Takes the whole list, newest first. Fully ordered.
static inline llist_node* llist_del_all(llist_head* head, const char* fn = __builtin_FUNCTION()) {
  return xchg(&head->first, nullptr, fn);
}

// Reverses a private list in place, with plain accesses.
static inline llist_node* llist_reverse_order(llist_node* head) {
  llist_node* reversed = nullptr;
  while (head) {
    llist_node* next = head->next;
    head->next = reversed;
    reversed = head;
    head = next;
  }
  return reversed;
}

}  // namespace sd::kernel
