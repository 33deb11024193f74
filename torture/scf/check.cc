#include "torture/scf/check.h"

#include "core/kernel/slab.h"
#include "torture/scf/fail.h"
#include "torture/scf/relay.h"
#include "torture/scf/state.h"

namespace sd::scf {

namespace {

constexpr uint32_t kLive = 0x5cf70117;
constexpr uint32_t kGone = 0xdead0f0f;

DEFINE_PER_CPU(kernel::llist_head, scf_free_pool);

unsigned receivers_of(Prim prim) {
  switch (prim) {
    case Prim::many:
    case Prim::many_wait:
    case Prim::all:
    case Prim::all_wait:
    case Prim::cond:
    case Prim::cond_wait:
    case Prim::on_each:
    case Prim::on_each_wait:
    case Prim::single_async:
      return nr_cpu_ids();
    case Prim::relay:
      return kRelayStages;
    default:
      return 1;
  }
}

void live_add(int n) {
  ScfState* st = &scf_state;
  data_race_write(&st->live, data_race_read(&st->live) + n);
}

}  // namespace

// Everything is initialised, unlike in the kernel: what a handler misses must not be hidden by
// what an earlier call has left in recycled memory.
scf_check* scf_alloc(Prim prim, const char* fn) {
  const unsigned receivers = receivers_of(prim);
  const size_t size = sizeof(scf_check) + receivers * sizeof(scf_receiver);
  auto* scfcp = static_cast<scf_check*>(kernel::kmalloc(size, kernel::GFP_ATOMIC, "scf_check", fn));
  if (!scfcp) return nullptr;
  live_add(1);
  scfcp->scfc_wait = prim_waits(prim);
  scfcp->scfc_rpc = false;
  scfcp->scfc_kept = false;
  scfcp->prim = prim;
  scfcp->scfc_cpu = -1;
  scfcp->receivers = receivers;
  scfcp->may_miss = 0;
  scfcp->next_kept = nullptr;
  if (!bug(Bug::scfc_in_uninit)) scfcp->scfc_in = 0;
  for (unsigned i = 0; i < receivers; ++i) scf_receivers(scfcp)[i] = scf_receiver{};
  data_race_write(&scfcp->runs, 0);
  data_race_write(&scfcp->due, 0);
  data_race_write(&scfcp->magic, kLive);
  return scfcp;
}

void scf_arm(scf_check* scfcp, const char* fn) {
  ScfState* st = &scf_state;
  const uint32_t nonce = data_race_read(&st->nonces) + 1;
  data_race_write(&st->nonces, nonce);
  data_race_write(&scfcp->nonce, nonce);
  if (take_plant(Plant::stale_in)) return;
  kernel::store_marked(&scfcp->scfc_in, nonce, sd_relaxed, fn);
}

void scf_assert_live(const scf_check* scfcp, const char* what, const char* fn) {
  if (!sd_alloc_is_live(scfcp, sizeof(*scfcp))) {
    SCF_FAIL(n_errs, "S-I57", fn, "torture object %s after it was freed", what);
  }
  if (data_race_read(&scfcp->magic) != kLive) {
    SCF_FAIL(n_errs, "S-I57", fn, "torture object of %s %s after its handler gave it up",
             prim_name(scfcp->prim), what);
  }
}

void scf_free(scf_check* scfcp, const char* fn) {
  if (take_plant(Plant::leak)) return;
  scf_assert_live(scfcp, "freed", fn);
  data_race_write(&scfcp->magic, kGone);
  live_add(-1);
  kernel::kfree(scfcp, fn);
  if (take_plant(Plant::free_twice)) scf_free(scfcp, fn);
}

void scf_free_from_handler(scf_check* scfcp, const char* fn) {
  if (!patch(Patch::v6_17)) return scf_free(scfcp, fn);
  scf_assert_live(scfcp, "freed", fn);
  data_race_write(&scfcp->magic, kGone);
  const unsigned pool = smp_processor_id() % (&scf_state)->nthreads;
  kernel::llist_add(&scfcp->free_node, per_cpu_ptr(scf_free_pool, pool), sd_full, fn);
}

void scf_drain_pool(unsigned cpu, const char* fn) {
  kernel::llist_head* pool = per_cpu_ptr(scf_free_pool, cpu);
  if (!data_race_read(&pool->first)) return;  // a hint, and no scheduling point in the usual case
  kernel::llist_node* node = kernel::llist_del_all(pool, fn);
  while (node) {
    auto* scfcp = reinterpret_cast<scf_check*>(reinterpret_cast<char*>(node) -
                                               __builtin_offsetof(scf_check, free_node));
    node = node->next;
    data_race_write(&scfcp->magic, kLive);
    scf_free(scfcp, fn);
  }
}

void scf_check_out(scf_check* scfcp, unsigned cpu, const char* fn) {
  const scf_receiver* receiver = scf_receiver_of(scfcp, cpu);
  const uint32_t out = kernel::load_marked(&receiver->scfc_out, sd_relaxed, fn);
  if (out == data_race_read(&scfcp->nonce)) return;
  SCF_FAIL(
      n_mb_out_errs, "scf-mb-out", fn,
      "Memory-ordering failure, scfs_prim: %d: %s returned, but scfc_out of CPU %u is %u, not %u",
      static_cast<int>(scfcp->prim), prim_name(scfcp->prim), cpu, out,
      data_race_read(&scfcp->nonce));
}

unsigned scf_judge(scf_check* scfcp, bool order, const char* fn) {
  const char* name = prim_name(scfcp->prim);
  unsigned ran = 0, missing = 0, missed = 0;
  for (unsigned cpu = 0; cpu < scfcp->receivers; ++cpu) {
    const scf_receiver& receiver = scf_receivers(scfcp)[cpu];
    if (receiver.ran > 1) {
      SCF_FAIL(n_errs, "scf-count", fn, "%s: the handler ran %d times on CPU %u", name,
               receiver.ran, cpu);
    }
    if (receiver.ran == 0) {
      if (receiver.fate != Fate::always) continue;
      ++missing;
      missed = cpu;
      continue;
    }
    if (receiver.fate == Fate::never) {
      SCF_FAIL(n_errs, "scf-count", fn, "%s: the handler ran on CPU %u, which was not to be called",
               name, cpu);
    }
    ++ran;
    if (order) scf_check_out(scfcp, cpu, fn);
  }
  if (missing > scfcp->may_miss) {
    SCF_FAIL(n_errs, "scf-count", fn,
             "%s: %s, but the handler has not run on CPU %u (%u of %u ran)", name,
             order ? "it returned" : "all requests are done", missed, ran, ran + missing);
  }
  return ran;
}

}  // namespace sd::scf
