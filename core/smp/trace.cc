// How the tracepoints are printed and hashed.
#include "core/smp/trace.h"

#include "core/engine/trace.h"

namespace sd::smp::tp {

void register_events() {
  using engine::EventFormat;
  using engine::register_event;
  const auto add = [](id event, const char* name, const char* a = nullptr,
                      const char* b = nullptr) {
    register_event(event, EventFormat{.name = name, .a = a, .b = b});
  };
  add(call_begin, "call_begin", "kind", "wait");
  add(call_pinned, "call_pinned", "cpu");
  add(call_unpinned, "call_unpinned");
  add(call_end, "call_end", "ret");
  add(any_selected, "any_selected", "cpu");
  add(cond_result, "cond_result", "cpu", "result");
  add(run_local_sampled, "run_local_sampled", "in_mask");
  add(snapshot, "snapshot");
  add(csd_lock_begin, "csd_lock_begin");
  add(csd_locked, "csd_locked", "cpu");
  add(csd_queue_cpu, "csd_queue_cpu", "cpu", "type");
  add(csd_queued, "csd_queued", "cpu", "was_empty");
  add(csd_unlock, "csd_unlock", "locked");
  add(csd_wait_begin, "csd_wait_begin");
  add(csd_wait_end, "csd_wait_end");
  add(flush_begin, "flush_begin", "warn");
  add(flush_taken, "flush_taken");
  add(csd_unlink, "csd_unlink", nullptr, "type");
  register_event(func_entry, EventFormat{.name = "func_entry", .hash_a = false, .hash_b = false});
  register_event(func_exit, EventFormat{.name = "func_exit", .hash_a = false, .hash_b = false});
  add(flush_end, "flush_end");
  add(wake_idle_without_ipi, "wake_idle_without_ipi", "cpu");
  add(csd_resend_ipi, "csd_resend_ipi", "cpu");
  add(smpcfd_prepare, "smpcfd_prepare", "cpu", "errno");
  add(smpcfd_dead, "smpcfd_dead", "cpu");
  add(smpcfd_dying_begin, "smpcfd_dying_begin", "cpu");
  add(smpcfd_dying_end, "smpcfd_dying_end", "cpu");
  add(irq_work_queue, "irq_work_queue", "cpu", "claimed");
  add(irq_work_entry, "irq_work_entry");
  add(irq_work_exit, "irq_work_exit");
  add(ttwu_queue, "ttwu_queue", "task", "cpu");
  add(ttwu_activate, "ttwu_activate", "task");
  add(csd_stuck, "csd_stuck", "bug", "waited_ns");
  add(csd_unstuck, "csd_unstuck", "bug");
  register_event(kick_begin, EventFormat{.name = "kick_begin", .hash_a = false});
  add(kick_end, "kick_end");
}

}  // namespace sd::smp::tp
