// Relayed requests (weight_relay): interrupt handlers that call on. An invoker asks a CPU by
// single_async; its handler hands the csd on to another CPU, up to a few times, and the last one
// queues an irq_work for its own CPU. What handlers queue is all that can be queued while
// stop_machine is under way, so this is what a dying CPU may be left with.
#pragma once

#include "torture/scf/invoke.h"

namespace sd::scf {

// Handovers at most, and with them the first request and the irq_work.
inline constexpr unsigned kRelayHandovers = 3;
inline constexpr unsigned kRelayStages = kRelayHandovers + 2;

// One such request: its current handler's, then the next one's. Each stage has a receiver in the
// record: asked by whom is before it, 0 or 1, and run.
struct Relay {
  smp::call_single_data_t csd;
  smp::irq_work work;
  scf_check* scfcp;
  unsigned stage;    // that is asked for, or runs
  unsigned cpu;      // where it has to
  unsigned left;     // handovers
  unsigned refused;  // handovers to a CPU that was offline
  Relay* next;
};

void invoke_relay(const Call& call);
// When nothing is on its way any more: compares what ran with what was asked for, and frees all.
void finish_relays(Invoker* t);

}  // namespace sd::scf
