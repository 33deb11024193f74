#include "core/oracle/flush.h"

#include "core/smp/trace.h"

namespace sd::oracle {

namespace tp = smp::tp;

std::vector<EventId> Flush::interests() const {
  return {tp::csd_unlink, tp::flush_end, engine::event::rmw};
}

void Flush::on_begin() {
  entries_.clear();
  queues_.assign(view().nr_cpus(), Queue{});
  numbers_ = 0;
  heads_.reset(view());
}

void Flush::on_event(const Event& event) {
  switch (event.id) {
    case engine::event::rmw:
      return queue_operation(event);
    case tp::csd_unlink:
      return unlink(event);
    case tp::flush_end: {
      Queue& queue = queues_[event.cpu];
      if (queue.handled < queue.batch_size) {
        violate("S-I28", event,
                "a flush of CPU {} took {} entries and returned with {} of them not handled",
                event.cpu, queue.batch_size, queue.batch_size - queue.handled);
      }
      queue.batch_size = queue.handled = 0;
      return;
    }
    default:
      return;
  }
}

void Flush::queue_operation(const Event& event) {
  const int cpu = heads_.cpu_of(event.obj);
  if (cpu < 0) return;
  Queue& queue = queues_[static_cast<unsigned>(cpu)];
  if (event.b != 0) {
    Entry& entry = entries_.get(reinterpret_cast<const volatile void*>(event.b));
    entry = Entry{++numbers_, queue.taken, static_cast<uint16_t>(cpu), true};
    ++queue.size;
    return;
  }
  if (event.cpu != cpu) {
    violate("S-I27", event, "CPU {} takes the entries of the queue of CPU {}", event.cpu, cpu);
  }
  queue.batch_size = queue.size;
  queue.size = queue.handled = 0;
  queue.last_sync = queue.last_other = 0;
  queue.wake_ups = false;
  ++queue.taken;
}

void Flush::unlink(const Event& event) {
  Queue& queue = queues_[event.cpu];
  Entry* entry = entries_.find(event.obj);
  if (!entry || !entry->waiting || entry->queue != event.cpu || entry->batch + 1 != queue.taken) {
    violate("S-I26", event,
            "the flush of CPU {} handles {}, which is not in the batch that it took", event.cpu,
            address(event.obj));
  }
  entry->waiting = false;
  ++queue.handled;
  const auto type = static_cast<unsigned>(event.b) & smp::CSD_FLAG_TYPE_MASK;
  if (type == smp::CSD_TYPE_TTWU) {
    queue.wake_ups = true;
    return;
  }
  const bool sync = type == smp::CSD_TYPE_SYNC;
  if (queue.wake_ups || (sync && queue.last_other != 0)) {
    violate("S-I25", event, "the flush of CPU {} runs the {} entry {} after {}", event.cpu,
            sync ? "SYNC" : "ASYNC", address(event.obj),
            queue.wake_ups ? "a wake-up" : "one that nobody waits for");
  }
  uint64_t& last = sync ? queue.last_sync : queue.last_other;
  if (entry->number < last) {
    violate("S-I25", event,
            "the flush of CPU {} runs {} after an entry of its kind that was queued later",
            event.cpu, address(event.obj));
  }
  last = entry->number;
}

}  // namespace sd::oracle
