// Base of all oracles. An oracle watches events and keeps ghost state of its own; it never
// influences the run, and the only thing it can do about what it sees is violate(), which ends the
// execution.
//
// Rules for oracles: subscribe to few events; O(1) per event; no allocation once the containers
// have grown; on_begin() costs what the last execution used; no decision depends on the value or
// order of addresses; a legal execution never violates.
#pragma once

#include <fmt/core.h>

#include <string>
#include <type_traits>

#include "core/engine/failure.h"
#include "core/engine/trace.h"
#include "core/oracle/view.h"

namespace sd::oracle {

using engine::Event;
using engine::EventId;

// Takes the failure and does not return (throws, in tests).
using Sink = void (*)(engine::Failure failure);
void machine_sink(engine::Failure failure);

// Parts of a message: a task by name, an address by what lies there.
struct TaskName {
  const View* view;
  uint32_t task;
};
struct Address {
  const View* view;
  const volatile void* p;
};

class Oracle : public engine::Observer {
 public:
  explicit Oracle(const View& view = machine_view(), Sink sink = machine_sink)
      : view_(&view), sink_(sink) {}

 protected:
  const View& view() const { return *view_; }
  TaskName task(uint32_t id) const { return {view_, id}; }
  Address address(const volatile void* p) const { return {view_, p}; }

  // Ends the execution: invariant `id` is violated, seen in `where`. Contexts of the machine are
  // abandoned, not unwound: neither the caller nor the arguments may hold what needs a destructor.
  template <typename... Args>
  [[noreturn]] void violate(const char* id, const Event& where, fmt::format_string<Args...> format,
                            Args... args) const {
    static_assert((std::is_trivially_destructible_v<Args> && ...));
    engine::Failure failure;
    failure.message = fmt::vformat(fmt::string_view(format), fmt::make_format_args(args...));
    report(id, where, failure);
  }

 private:
  [[noreturn]] void report(const char* id, const Event& where, engine::Failure& failure) const;

  const View* view_;
  Sink sink_;
};

// fmt/core.h alone, which compiles in a tenth of the time, formats no types derived from its own.
template <typename Part>
struct PlainFormatter {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <typename Context>
  auto format(const Part& part, Context& context) const {
    auto out = context.out();
    for (const char c : text_of(part)) *out++ = c;
    return out;
  }
};

inline std::string text_of(const TaskName& name) {
  return name.view->task_name(name.task);
}
inline std::string text_of(const Address& address) {
  return address.view->describe(address.p);
}

}  // namespace sd::oracle

template <>
struct fmt::formatter<sd::oracle::TaskName> : sd::oracle::PlainFormatter<sd::oracle::TaskName> {};
template <>
struct fmt::formatter<sd::oracle::Address> : sd::oracle::PlainFormatter<sd::oracle::Address> {};
