#include "torture/scf/relay.h"

#include <cerrno>

#include "core/kernel/slab.h"
#include "torture/scf/choose.h"
#include "torture/scf/fail.h"
#include "torture/scf/handler.h"

namespace sd::scf {

namespace {

void scf_relay_handler(void* info);
void scf_relay_work(smp::irq_work* work);

scf_receiver* stage_of(const Relay* relay, unsigned stage) {
  return scf_receivers(relay->scfcp) + stage;
}

// Both or none; all of it is the caller's until the call.
Relay* relay_alloc(unsigned handovers) {
  scf_check* scfcp = scf_alloc(Prim::relay);
  if (!scfcp) return nullptr;
  auto* relay =
      static_cast<Relay*>(kernel::kzalloc(sizeof(Relay), kernel::GFP_ATOMIC, "scf_relay"));
  if (!relay) {
    scf_free(scfcp);
    return nullptr;
  }
  relay->csd.func = scf_relay_handler;
  relay->csd.info = relay;
  smp::init_irq_work(&relay->work, scf_relay_work);
  relay->scfcp = scfcp;
  relay->left = handovers;
  return relay;
}

void relay_free(Relay* relay) {
  scf_free(relay->scfcp);
  kernel::kfree(relay);
}

// From here on the request is the next handler's.
void ask(Relay* relay, unsigned stage, unsigned cpu) {
  relay->stage = stage;
  relay->cpu = take_plant(Plant::wrong_cpu) ? nr_cpu_ids() : cpu;
  stage_of(relay, stage)->asked = 1;
  outstanding_add(&(&scf_state)->outstanding, 1);
}

// 0 or -ENXIO; then it is the caller's again. Nobody else uses the csd, and it was unlocked before
// the handler that hands it on: it is never busy.
int send(Relay* relay, unsigned stage, unsigned cpu, const char* fn) {
  View view;
  view_begin(&view, false);
  ask(relay, stage, cpu);
  const int ret = smp::smp_call_function_single_async(static_cast<int>(cpu), &relay->csd);
  if (ret == 0 && view_fate(&view, cpu) == Fate::never) {
    SCF_FAIL(n_errs, "S-I3", fn, "a relayed request was accepted for CPU %u, which was offline",
             cpu);
  }
  if (ret == 0) return 0;
  if (ret != -ENXIO) {
    SCF_FAIL(n_errs, "scf-errno", fn, "a relayed request, which nobody else uses, returned %d",
             ret);
  }
  if (view_fate(&view, cpu) == Fate::always) {
    SCF_FAIL(n_errs, "S-I3", fn,
             "a relayed request was refused by CPU %u, which was online all the time", cpu);
  }
  stage_of(relay, stage)->asked = 0;
  outstanding_add(&(&scf_state)->outstanding, -1);
  return ret;
}

// What the caller, or the handler before this one, has written must be visible.
void check_before(const Relay* relay, const char* fn) {
  if (relay->stage == 0) return scf_check_in(relay->scfcp, fn);
  const uint32_t out =
      kernel::load_marked(&stage_of(relay, relay->stage - 1)->scfc_out, sd_relaxed, fn);
  const uint32_t nonce = data_race_read(&relay->scfcp->nonce);
  if (out == nonce) return;
  SCF_FAIL(n_mb_in_errs, "scf-mb-in", fn,
           "Memory-ordering failure: stage %u of a relayed request sees %u of the one before, not "
           "%u",
           relay->stage, out, nonce);
}

void run_stage(const Relay* relay, const char* fn) {
  scf_enter_handler(fn);
  scf_assert_live(relay->scfcp, "used", fn);
  const unsigned cpu = smp_processor_id();
  if (cpu != relay->cpu) {
    SCF_FAIL(n_errs, "scf-ste", fn, "Wanted CPU %u got CPU %u", relay->cpu, cpu);
  }
  check_before(relay, fn);
  scf_receiver* receiver = stage_of(relay, relay->stage);
  ++receiver->ran;
  if (take_plant(Plant::run_twice)) ++receiver->ran;
  scf_handler_delay(fn);
  const uint32_t out = take_plant(Plant::stale_out) ? 0 : data_race_read(&relay->scfcp->nonce);
  kernel::store_marked(&receiver->scfc_out, out, sd_relaxed, fn);
}

bool hand_on(Relay* relay) {
  if (relay->left == 0) return false;
  --relay->left;
  const unsigned stage = relay->stage;
  if (send(relay, stage + 1, choose(nr_cpu_ids(), choice::op_cpu), "scf_relay_handler") == 0)
    return true;
  relay->stage = stage;
  ++relay->refused;
  return false;
}

void scf_relay_handler(void* info) {
  auto* relay = static_cast<Relay*>(info);
  run_stage(relay, __func__);
  if (take_plant(Plant::lose)) return;
  if (!hand_on(relay)) {
    ask(relay, relay->stage + 1, smp_processor_id());
    if (!smp::irq_work_queue(&relay->work)) {
      SCF_FAIL(n_errs, "scf-errno", __func__,
               "irq_work_queue refused a work that nobody has queued");
    }
  }
  outstanding_done(&(&scf_state)->outstanding);
}

void scf_relay_work(smp::irq_work* work) {
  const auto* relay =
      reinterpret_cast<Relay*>(reinterpret_cast<char*>(work) - __builtin_offsetof(Relay, work));
  run_stage(relay, __func__);
  outstanding_done(&(&scf_state)->outstanding);
}

}  // namespace

void invoke_relay(const Call& call) {
  Invoker* t = call.t;
  const unsigned cpu = choose(nr_cpu_ids(), choice::op_cpu);
  Relay* relay = relay_alloc(choose(kRelayHandovers + 1, choice::op_value));
  if (!relay) {
    ++t->stats.n_alloc_errs;
    return;
  }
  scf_arm(relay->scfcp);
  if (send(relay, 0, cpu, prim_name(call.prim)) != 0) {
    relay_free(relay);
    return count_offline(call);
  }
  relay->next = t->relays;
  t->relays = relay;
}

void finish_relays(Invoker* t) {
  while (Relay* relay = t->relays) {
    t->relays = relay->next;
    for (unsigned stage = 0; stage < kRelayStages; ++stage) {
      const scf_receiver* receiver = stage_of(relay, stage);
      t->stats.expected += receiver->asked;
      if (receiver->ran == receiver->asked) continue;
      SCF_FAIL(n_errs, "scf-count", "scf_torture_cleanup",
               "stage %u of a relayed request was asked for %u times, but ran %u times", stage,
               receiver->asked, receiver->ran);
    }
    t->stats.n_ofl[static_cast<unsigned>(Prim::relay)] += relay->refused;
    smp::irq_work_sync(&relay->work);
    relay_free(relay);
  }
}

}  // namespace sd::scf
