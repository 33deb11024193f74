// The parts of kernel/torture.c that a torture test is framed with: creating and stopping threads,
// stutter, shutdown, shuffling.
#pragma once

#include "torture/scf/state.h"

namespace sd::scf {

// kthread_create() with the lines that torture.c prints; not running yet.
task_struct* torture_create_kthread(int (*fn)(void*), void* data, const char* name);
// The last thing that a thread of the torture does. (torture.c polls until it is stopped; here a
// thread that has ended can be stopped too.)
void torture_kthread_stopping(const char* name);
// Stops *task, if there is one, and forgets it.
void torture_stop_kthread(const char* name, task_struct** task);

void start_stutter();
// Pauses if the stutter thread says so.
void stutter_wait();
void start_shutdown();
void start_shuffle();

}  // namespace sd::scf
