#include "torture/build_info.h"

namespace sd::torture {

namespace {

constexpr const char* kVersion = "0.1.0";

#if defined(SD_ASAN)
constexpr const char* kFlavour = "asan";
#elif defined(SD_TSAN)
constexpr const char* kFlavour = "tsan";
#else
constexpr const char* kFlavour = "plain";
#endif

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

}  // namespace

std::string build_info() {
  std::string compiler = kCompiler;
  while (compiler.ends_with(' ')) compiler.pop_back();
  return std::string(kVersion) + " (" + kFlavour + ", " + compiler + ")";
}

}  // namespace sd::torture
