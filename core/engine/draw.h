// How the randomised strategies draw numbers. Not every purpose is the same kind of question: what
// the workload does and whether a fault is injected must be spread evenly whatever the strategy,
// or a strategy would also choose what is tested; how the machine resolves a tie is better left
// calm most of the time, so that the few times it is not stand out.
#pragma once

#include <cstdint>

#include "core/engine/chooser.h"
#include "core/engine/rng.h"

namespace sd::engine {

// True: every number is equally likely. False: 0 half of the time, otherwise any number alike.
//
// Uniform are the draws of the workload (op_*, onoff_cpu, handler_delay, sleep_fuzz) and those
// whose rate the caller has chosen with n ("one in n", alloc_fail and the like).
bool draws_uniformly(Purpose purpose);

// A number in [0, n), by the law of its purpose.
uint32_t draw_number(Rng& rng, uint32_t n, Purpose purpose);

}  // namespace sd::engine
