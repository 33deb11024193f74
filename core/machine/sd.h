/* The C interface of the machine: all that code under test ever calls. The kernel's vocabulary
 * (core/kernel) is a thin typed layer over it, and C code could be compiled onto it directly.
 *
 * Every function marked [P] is a scheduling point on each side: before it other contexts may run,
 * and after it too, before the caller gets the result into its hands. [p] has one point, because a
 * second one could show nothing more: what only narrows what may happen to this CPU (preemption
 * off, interrupts off) has it before, what widens it has it after, and so has a fence, which
 * nobody else can observe. `fn` is always the name of the calling function (__func__), for
 * reports. A pointer to memory of the machine may be anywhere: on a task's stack, in a per-CPU
 * area, on the heap.
 */
#ifndef CORE_MACHINE_SD_H_
#define CORE_MACHINE_SD_H_

#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- memory: marked accesses ---------------------------------------------------------------- */

typedef enum sd_order {
  sd_relaxed, /* READ_ONCE, WRITE_ONCE, atomic_*_relaxed */
  sd_acquire,
  sd_release,
  sd_full /* RMW only: a full barrier on both sides if it succeeds */
} sd_order;

typedef enum sd_rmw_op { sd_xchg, sd_add, sd_sub, sd_and, sd_or, sd_xor, sd_andnot } sd_rmw_op;

typedef enum sd_fence_kind {
  sd_mb,
  sd_rmb,
  sd_wmb,
  sd_acquire_after_ctrl_dep,
  sd_barrier_compiler, /* barrier(): orders nothing between CPUs */
} sd_fence_kind;

/* size is 1, 2, 4 or 8; values are zero-extended. */
uint64_t sd_load(const volatile void* p, unsigned size, sd_order order, const char* fn); /* [P] */
void sd_store(volatile void* p, uint64_t value, unsigned size, sd_order order,
              const char* fn); /* [P] */
uint64_t sd_rmw(volatile void* p, sd_rmw_op op, uint64_t operand, unsigned size, sd_order order,
                const char* fn); /* [P] returns the old value */
/* Returns whether it stored; *expected becomes the value found otherwise. A failure
 * orders nothing. */
bool sd_cmpxchg(volatile void* p, uint64_t* expected, uint64_t desired, unsigned size,
                sd_order order, const char* fn);   /* [P] */
void sd_fence(sd_fence_kind kind, const char* fn); /* [p] */

/* The stores that follow depend, by a branch, on what an unmarked (data_race) load has
 * just read from p. */
void sd_control_dependency(const volatile void* p);

/* cpu_relax() of a loop that waits for *p to stop being `old`: parks the context until a store to
 * *p has changed it, an interrupt was taken, or virtual time has reached `deadline_ns` (0: never).
 * Interrupts and preemption happen meanwhile as the context's state allows. The caller re-reads. */
void sd_wait_change(const volatile void* p, uint64_t old, unsigned size, uint64_t deadline_ns,
                    const char* fn); /* [P] */
/* cpu_relax() of any other loop: a point, and 1 step that may make no progress (livelock bound). */
void sd_cpu_relax(const char* fn); /* [P] */

/* ---- the vCPU -------------------------------------------------------------------------------- */

unsigned sd_nr_cpus(void);
unsigned sd_this_cpu(void);              /* raw_smp_processor_id(): no check */
void sd_preempt_disable(const char* fn); /* [p] */
void sd_preempt_enable(const char* fn);  /* [p]; preempts here where that is due */
void sd_preempt_enable_no_resched(const char* fn);
unsigned sd_preempt_count(void); /* nesting depth of the current context, idle's base depth incl. */
bool sd_preempt_model_full(void);          /* CONFIG_PREEMPTION */
void sd_local_irq_disable(const char* fn); /* [p] */
void sd_local_irq_enable(const char* fn);  /* [p] */
bool sd_local_irq_save(const char* fn);    /* [p] disables; returns whether they were enabled */
void sd_local_irq_restore(bool were_enabled, const char* fn); /* [p] */
bool sd_irqs_disabled(void);
unsigned sd_hardirq_depth(void); /* in_hardirq() */
bool sd_in_task(void);           /* in_task() */
/* A failure if the current context may not sleep; whoever might calls it, whether it will
 * or not. */
void sd_might_sleep(const char* fn);
void sd_cond_resched(const char* fn); /* [p] */

/* Vectors, highest priority first. */
typedef enum sd_vector {
  sd_vec_call_function_single,
  sd_vec_call_function,
  sd_vec_irq_work,
  sd_vec_reschedule,
  sd_vec_timer,
  sd_nr_vectors
} sd_vector;

/* Sends an IPI; merges with one already pending; lost if the target is dead. The handler's entry
 * happens after everything before the send. */
void sd_send_ipi(unsigned cpu, sd_vector vector, const char* fn); /* [P] */
bool sd_ipi_pending(unsigned cpu, sd_vector vector);              /* debugging and oracles only */

/* ---- time ------------------------------------------------------------------------------------ */

uint64_t sd_clock_ns(void); /* virtual time of this context; never goes back for a task */
void sd_delay_ns(uint64_t ns, const char* fn); /* [P] busy: the vCPU is taken all that time */

/* ---- tasks ----------------------------------------------------------------------------------- */

struct sd_task; /* opaque; sd_current() of an idle task is a task too */
struct sd_task* sd_current(void);
unsigned sd_task_id(const struct sd_task* task);
const char* sd_task_name(const struct sd_task* task);
unsigned sd_task_cpu(const struct sd_task* task);
bool sd_task_is_idle(const struct sd_task* task);
struct sd_task* sd_idle_task(unsigned cpu);
struct sd_task* sd_curr_task(unsigned cpu); /* cpu_rq(cpu)->curr, racy */
/* cpu_rq(cpu): how many tasks are runnable there, the running one included, the idle task
 * not; and how many that are migrate-disabled belong there, runnable or not. Racy unless
 * it cannot change. */
unsigned sd_nr_running(unsigned cpu);
unsigned sd_nr_pinned(unsigned cpu);
/* thread_info::flags of the task: a word for marked accesses. */
volatile uint32_t* sd_task_flags(struct sd_task* task);
/* Marked, relaxed accesses to the current task's own flags and its CPU's bit in cpu_online_mask,
 * for the idle loop: it makes no plain access between two of them, so the point before the next
 * operation is the point after this one. _mb: a full barrier follows. */
uint32_t sd_own_flags(const char* fn);                     /* [p] */
void sd_own_flags_set(uint32_t bits, const char* fn);      /* [p] */
void sd_own_flags_clear(uint32_t bits, const char* fn);    /* [p] */
void sd_own_flags_clear_mb(uint32_t bits, const char* fn); /* [p] */
bool sd_own_cpu_online(const char* fn);                    /* [p] */
enum { sd_tif_need_resched = 1u << 1, sd_tif_polling = 1u << 2 };
/* Storage for the vocabulary layer's and the stack's own per-task data, zeroed at creation. */
enum { sd_task_storage_bytes = 256 };
void* sd_task_storage(struct sd_task* task);

/* Creates a task, not yet runnable (kthread_create). The name is copied. NULL: out of
 * memory or tasks. */
struct sd_task* sd_task_create(void (*entry)(void*), void* arg, const char* name); /* [P] */
void sd_task_set_argument(struct sd_task* task, void* arg); /* before it runs */
/* Runs it for the first time or after it blocked; false if it was not blocked. Direct wake-up. */
bool sd_task_wake(struct sd_task* task, const char* fn); /* [P] */
/* Restricts the task to one CPU (kthread_bind / set_cpus_allowed_ptr); sd_any_cpu lifts it. When
 * that CPU goes down the affinity is broken. A running task is moved (it blocks till it runs
 * there). False if cpu is not online. */
#define sd_any_cpu (~0u)
bool sd_task_bind(struct sd_task* task, unsigned cpu, const char* fn); /* [P] */
/* The task does not keep an execution going; when its function has returned, a
 * wake-up runs it again. */
void sd_task_set_daemon(struct sd_task* task);
void sd_task_set_per_cpu_kthread(
    struct sd_task* task);               /* kthread_set_per_cpu: stays on a dying CPU */
void sd_migrate_disable(const char* fn); /* [p] */
void sd_migrate_enable(const char* fn);  /* [p] */
void sd_yield(const char* fn);           /* [p] */
/* Sleeps in virtual time. Returns early, with the time left, if woken by sd_task_wake. */
uint64_t sd_sleep_ns(uint64_t ns, const char* fn); /* [P] */

/* A wait queue: the one blocking primitive; machine-atomic, so that no wake-up is ever lost in it.
 * Zero-initialised memory is an empty queue. */
struct sd_waitq {
  struct sd_task* head;
  struct sd_task* tail;
};
/* Blocks the current task on q. The caller has just decided, with no point in between,
 * that it must wait. */
void sd_block_on(struct sd_waitq* q, const char* fn);
/* Wakes the first (all) tasks of q, in FIFO order; returns how many. Not a point by itself, but the
 * wake-up of sd_wake_one may go through a remote call queue, which has points: q must not be
 * touched afterwards. */
unsigned sd_wake_one(struct sd_waitq* q);
unsigned sd_wake_all(struct sd_waitq* q);
/* A point by itself, for primitives built from machine-atomic steps: op is an engine OpKind
 * number. */
enum sd_point_kind { sd_point_lock = 9, sd_point_wake = 10 };
void sd_point(enum sd_point_kind kind, const volatile void* p, const char* fn); /* [P] one */
/* The orders that a lock-like primitive gives: everything before release(p) is visible after a
 * later acquire(p). For primitives whose own state is not accessed through sd_load and sd_store. */
void sd_sync_release(const volatile void* p);
void sd_sync_acquire(const volatile void* p);

/* ---- RCU ------------------------------------------------------------------------------------- */
void sd_rcu_read_lock(const char* fn);   /* [p] */
void sd_rcu_read_unlock(const char* fn); /* [p] */
void sd_synchronize_rcu(const char* fn); /* [P] sleeps */

/* ---- idle ------------------------------------------------------------------------------------ */
/* For the idle loop only. Halts with interrupts off until an interrupt is pending,
 * enables them, and takes it. Returns false when the machine is being shut down and the
 * idle loop has to return. */
bool sd_idle_halt(const char* fn); /* [p] */
bool sd_machine_stopping(void);
/* schedule_idle(): clears NEED_RESCHED, switches to another task if there is one, returns when idle
 * again. Comes straight after an operation that ends with a point, so it has none of its own. */
void sd_schedule_idle(const char* fn);
/* The offline idle task ends here: the CPU is dead. Returns when it is brought up again, or when
 * the machine stops; the idle loop has to return then. */
void sd_cpu_dead(void);

/* ---- memory allocation ----------------------------------------------------------------------- */
/* Poisoned (not zeroed) memory, 64-byte aligned; NULL on an injected failure if may_fail. [P] */
void* sd_alloc(size_t size, const char* tag, bool may_fail, const char* fn);
void sd_free(void* p, const char* fn); /* [P]; reports double and wild frees */
bool sd_alloc_is_live(const volatile void* p,
                      size_t size); /* not freed; true for memory that is not of the heap */

/* Per-CPU variables and globals of the code under test live in areas of the machine;
 * zeroed at boot. */
size_t sd_percpu_reserve(size_t size, size_t align,
                         const char* name); /* before any machine boots */
size_t sd_global_reserve(size_t size, size_t align, const char* name);
void* sd_percpu_ptr(size_t offset, unsigned cpu);
void* sd_global_ptr(size_t offset);

/* ---- decisions ------------------------------------------------------------------------------- */
/* A number in [0, n) from the chooser; purpose is an engine Purpose number
 * (kernel/choose.h names them). */
uint32_t sd_choose(uint32_t n, unsigned purpose);

/* ---- switches -------------------------------------------------------------------------------- */
bool sd_patch_on(unsigned patch); /* core/series */
bool sd_bug_on(unsigned bug);     /* core/bugs */
/* Parameters of the stack that a scenario sets ("csdlock_debug", "csd_lock_timeout", ...): see
 * kernel/param.h. */
int64_t sd_param(unsigned param);

/* ---- reports --------------------------------------------------------------------------------- */
/* Events of the vocabulary layer; core/machine/events.h prints them. a = number of the softirq */
enum { sd_event_softirq_raise = 64, sd_event_softirq_entry = 65, sd_event_softirq_exit = 66 };
void sd_trace(uint8_t event, const volatile void* obj, uint64_t a, uint64_t b, const char* fn);
void sd_printk(const char* fmt, ...) __attribute__((format(printf, 1, 2)));
/* WARN: a failure of the execution unless expected (see machine options); then it only prints. */
void sd_warn(const char* file, int line, const char* fn, const char* fmt, ...)
    __attribute__((format(printf, 4, 5)));
void sd_bug(const char* file, int line, const char* fn, const char* fmt, ...)
    __attribute__((format(printf, 4, 5), noreturn));
/* A scenario's own verdict (harness failure), e.g. id "scf-mb-out". Ends the execution:
 * does not return. */
void sd_fail(const char* id, const char* fn, const char* fmt, ...)
    __attribute__((format(printf, 3, 4), noreturn));

/* ---- CPU hotplug ----------------------------------------------------------------------------- */
typedef enum sd_cpuhp_state {
  /* BP section: run by the task that controls the operation. */
  sd_cpuhp_offline,
  sd_cpuhp_smpcfd_prepare,
  sd_cpuhp_rcutree_prep,
  sd_cpuhp_timers_prepare,
  sd_cpuhp_bp_prepare_dyn,
  sd_cpuhp_bringup_cpu,
  /* atomic AP section: on the CPU, interrupts off, may not fail */
  sd_cpuhp_ap_idle_dead,
  sd_cpuhp_ap_offline,
  sd_cpuhp_ap_sched_starting,
  sd_cpuhp_ap_rcutree_dying,
  sd_cpuhp_ap_smpcfd_dying,
  sd_cpuhp_ap_hrtimers_dying,
  sd_cpuhp_ap_tick_dying,
  sd_cpuhp_ap_online,
  sd_cpuhp_teardown_cpu, /* run by the BP */
  /* AP section: run by cpuhp/N on the CPU */
  sd_cpuhp_ap_online_idle,
  sd_cpuhp_ap_sched_wait_empty,
  sd_cpuhp_ap_smpboot_threads,
  sd_cpuhp_ap_workqueue_online,
  sd_cpuhp_ap_rcutree_online,
  sd_cpuhp_ap_online_dyn,
  sd_cpuhp_ap_active,
  sd_cpuhp_online,
  sd_cpuhp_nr_states
} sd_cpuhp_state;
const char* sd_cpuhp_state_name(sd_cpuhp_state state);
/* Callbacks of a state; called with the CPU's number; 0 or -errno. Once per process,
 * before any boot. */
void sd_cpuhp_setup_state(sd_cpuhp_state state, int (*startup)(unsigned),
                          int (*teardown)(unsigned));
sd_cpuhp_state sd_cpuhp_get_state(unsigned cpu);
int sd_cpu_down(unsigned cpu, const char* fn); /* remove_cpu(): 0 or -errno; sleeps */
int sd_cpu_up(unsigned cpu, const char* fn);   /* add_cpu() */
void sd_cpus_read_lock(const char* fn);        /* [P] sleeps */
void sd_cpus_read_unlock(const char* fn);      /* [P] */
/* The masks: marked-access words, sd_nr_cpus() bits in 64-bit words. */
volatile uint64_t* sd_cpu_online_bits(void);
volatile uint64_t* sd_cpu_active_bits(void);
volatile uint64_t* sd_cpu_dying_bits(void);
unsigned sd_num_online_cpus(void); /* atomic read of the count, no point */
/* Runs fn(arg) on cpu (sd_any_cpu: on every CPU) with all other CPUs spinning with
 * interrupts off. */
int sd_stop_machine(int (*fn)(void*), void* arg, unsigned cpu, const char* name);
/* The same with two different CPUs only, fn running on cpu1; the rest of the machine goes on.
 * Sleeps. -ENOENT: one of them is not up. */
int sd_stop_two_cpus(unsigned cpu1, unsigned cpu2, int (*fn)(void*), void* arg, const char* name);

/* ---- topology -------------------------------------------------------------------------------- */
unsigned sd_cpu_to_node(unsigned cpu);
unsigned sd_nr_nodes(void);
unsigned sd_cpu_distance(unsigned a,
                         unsigned b); /* 0 same CPU, 1 SMT sibling, 2 same node, 3+ farther */

/* ---- what the stack gives to the machine (registered once per process) ----------------------- */
struct sd_stack_ops {
  void (*boot)(
      void); /* once per boot, on CPU 0's idle context, before any task: no points are taken */
  void (*idle_loop)(unsigned cpu); /* do_idle() for ever; returns when sd_machine_stopping() */
  void (*handle_vector)(unsigned vector); /* interrupts off, hardirq context */
  /* The end of an interrupt, no hardirq context any more: interrupts are off, but may be enabled
   * for a while, and others are taken then. May be NULL. */
  void (*irq_exit)(void);
  /* fork; false: -ENOMEM, and there is no such task */
  bool (*task_created)(struct sd_task* task, struct sd_task* parent);
  void (*task_freed)(struct sd_task* task);
  /* A wake-up may go through the remote CPU's call queue; true if it was queued
   * there. May be NULL. */
  bool (*ttwu_queue)(struct sd_task* task, unsigned cpu);
  void (*stopper_flush)(void); /* migration_cpu_stop's flush of the call queue */
};
void sd_register_stack(const struct sd_stack_ops* ops);
/* Activates a task that ttwu_queue queued; IRQs off, on its CPU. */
void sd_ttwu_activate(struct sd_task* task);
/* The idle task of an offline CPU, before it sends that message: RCU does not wait for the CPU any
 * more, and its state is AP_IDLE_DEAD. */
void sd_cpuhp_idle_dead(void);
/* The idle-dead CPU's message has arrived: completes what takedown waits for. */
void sd_cpuhp_dead_reported(unsigned cpu);

#ifdef __cplusplus
}
#endif

#endif /* CORE_MACHINE_SD_H_ */
