// For checking that executions depend on their choices alone: changes what must not matter.
#pragma once

#include <memory>
#include <vector>

namespace sd::torture {

// For as long as it lives, executions of this process run
// - in other memory, with the addresses of allocations in the opposite order; so whatever
//   looks at a pointer's value, or goes through a container in the order of pointers or of
//   their hashes, differs,
// - with tasks and CPUs elsewhere, tasks on other stacks, and other garbage on them,
// - with another environment: language, time zone, home, size,
// - on a malloc() that fills fresh and freed blocks, and whose free blocks are other ones.
// What only a new process can have otherwise (where code and statics lie) is left to comparing
// runs.
class Disarranged {
 public:
  Disarranged();
  ~Disarranged();
  Disarranged(const Disarranged&) = delete;
  Disarranged& operator=(const Disarranged&) = delete;

 private:
  char** environment_;
  std::vector<std::unique_ptr<char[]>> ballast_;
};

}  // namespace sd::torture
