#include "core/engine/check.h"

#include <cstdio>
#include <cstdlib>

namespace sd::engine {

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr,
               "shootdown: internal error: %s does not hold at %s:%d; "
               "this is a bug of shootdown itself, please report it\n",
               expression, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace sd::engine
