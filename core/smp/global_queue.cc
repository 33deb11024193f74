#include "core/smp/global_queue.h"

#include "core/kernel/completion.h"
#include "core/smp/queue.h"

namespace sd::smp {
namespace {

// A list with the checks of CONFIG_DEBUG_LIST. Walkers hold no lock: they go by `next`, which a
// deleted entry keeps. prev is null where an entry is on no list.
struct list_entry {
  list_entry* next;
  list_entry* prev;
};

struct request {
  list_entry list;  // first: an entry is its request
  unsigned lock;    // 1: in use
  atomic_t refs;    // CPUs that have yet to run the function
  smp_call_func_t func;
  void* info;
  cpumask mask;  // CPUs that have yet to see it
};

struct queue {
  kernel::spinlock_t lock;
  list_entry head;
};

DEFINE_PER_CPU(request, global_request);
DEFINE_KERNEL_GLOBAL(queue, global_queue);

void list_add(list_entry* entry, list_entry* head) {
  BUG_ON(entry->prev != nullptr);
  list_entry* next = data_race_read(&head->next);
  WRITE_ONCE(entry->next, next);
  entry->prev = head;
  next->prev = entry;
  smp_store_release(&head->next, entry);
}

void list_del(list_entry* entry) {
  BUG_ON(entry->prev == nullptr);
  list_entry* next = data_race_read(&entry->next);
  next->prev = entry->prev;
  WRITE_ONCE(entry->prev->next, next);
  entry->prev = nullptr;
}

unsigned first_target(const cpumask* mask, unsigned this_cpu) {
  return cpumask_any_and_but(mask, cpu_online_mask(), this_cpu);
}

void finish(request* data) {
  queue* q = &global_queue;
  kernel::spin_lock(&q->lock);
  list_del(&data->list);
  kernel::spin_unlock(&q->lock);
  smp_store_release(&data->lock, 0u);
}

}  // namespace

void global_queue_init() {
  queue* q = &global_queue;
  q->head.next = q->head.prev = &q->head;
}

void global_queue_interrupt() {
  const unsigned cpu = smp_processor_id();
  queue* q = &global_queue;
  for (list_entry* entry = smp_load_acquire(&q->head.next); entry != &q->head;
       entry = smp_load_acquire(&entry->next)) {
    auto* data = reinterpret_cast<request*>(entry);
    // This may be a request that is done, and is being filled anew. Only with its bit set and a
    // count is it valid.
    if (!cpumask_test_cpu(cpu, &data->mask)) continue;
    smp_rmb();
    if (atomic_read(&data->refs) == 0) continue;
    if (!cpumask_test_and_clear_cpu(cpu, &data->mask)) continue;
    data->func(data->info);
    if (atomic_dec_return(&data->refs) == 0) finish(data);
  }
}

void global_queue_call(const cpumask* mask, smp_call_func_t func, void* info, bool wait) {
  const unsigned this_cpu = get_cpu();
  if (cpu_online(this_cpu) && !oops_in_progress) lockdep_assert_irqs_enabled();
  if (first_target(mask, this_cpu) >= nr_cpu_ids()) return put_cpu();

  request* data = this_cpu_ptr(global_request);
  smp_cond_load_acquire(&data->lock, VAL == 0);
  WRITE_ONCE(data->lock, 1u);
  data->func = func;
  data->info = info;
  cpumask targets;
  cpumask_and(&targets, mask, cpu_online_mask());
  __cpumask_clear_cpu(this_cpu, &targets);
  const auto refs = static_cast<int>(cpumask_weight(&targets));
  if (refs == 0) {  // the mask has changed meanwhile
    smp_store_release(&data->lock, 0u);
    return put_cpu();
  }
  smp_wmb();  // The function before the bits.
  for (unsigned w = 0; w < kernel::cpumask_words(); ++w)
    WRITE_ONCE(data->mask.bits[w], targets.bits[w]);
  if (bug(Bug::h02)) atomic_set(&data->refs, refs);

  queue* q = &global_queue;
  const bool flags = kernel::spin_lock_irqsave(&q->lock);
  list_add(&data->list, &q->head);
  if (!bug(Bug::h02)) atomic_set(&data->refs, refs);
  kernel::spin_unlock_irqrestore(&q->lock, flags);
  smp_mb();
  send_call_function_ipi_mask(&targets);
  if (wait) smp_cond_load_acquire(&data->lock, VAL == 0);
  put_cpu();
}

}  // namespace sd::smp
