#include "torture/disarranged.h"

#include <malloc.h>
#include <unistd.h>

#include <string>

#include "core/machine/machine.h"

namespace sd::torture {

namespace {

char** other_environment() {
  static std::string words[] = {"LC_ALL=tr_TR.UTF-8", "TZ=Pacific/Kiritimati", "HOME=/nonexistent",
                                "SHOOTDOWN_DISARRANGED=" + std::string(5000, 'x')};
  static char* pointers[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                             nullptr};
  return pointers;
}

constexpr int kPerturb = 0xa5;

}  // namespace

Disarranged::Disarranged() : environment_(environ) {
  machine::disarrange();
  environ = other_environment();
  ::mallopt(M_PERTURB, kPerturb);
  // A few of each size that small objects have, so that theirs are other blocks.
  constexpr size_t kLargest = 1024;
  constexpr size_t kStep = 48;
  for (size_t size = 16; size < kLargest; size += kStep)
    ballast_.push_back(std::make_unique<char[]>(size));
}

Disarranged::~Disarranged() {
  ::mallopt(M_PERTURB, 0);
  environ = environment_;
  machine::disarrange();
}

}  // namespace sd::torture
