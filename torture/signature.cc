#include "torture/signature.h"

#include <string_view>

namespace sd::torture {

std::string signature(const engine::Failure& failure, const Scenario& scenario) {
  constexpr size_t kLongest = 100;
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.@";
  std::string text = failure.signature();
  if (const std::string switches = switches_text(scenario); !switches.empty()) {
    if (switches[0] != '+' && switches[0] != '-') text += '+';
    text += switches;
  }
  for (char& c : text) c = kSafe.find(c) == std::string_view::npos ? '_' : c;
  if (text.size() > kLongest) text.resize(kLongest);
  if (text[0] == '.' || text[0] == '-' || text[0] == '@') text.insert(text.begin(), 'x');
  return text;
}

}  // namespace sd::torture
