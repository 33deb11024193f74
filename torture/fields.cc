#include "torture/fields.h"

#include <limits>

#include "core/kernel/param.h"
#include "torture/parse.h"
#include "torture/user_error.h"

namespace sd::torture {

namespace {

using Form = Field::Form;
using Table = std::vector<Field>;

constexpr int64_t kHour = 3600;  // of virtual seconds: ample for one execution
constexpr int64_t kHourOfJiffies = 3'600'000;

// A member of Scenario, reached through `part`.
template <typename Part, typename T>
void add(Table& table, std::string name, Form form, Part Scenario::*part, T Part::*member,
         int64_t min, int64_t max, std::string help) {
  Field field;
  field.name = std::move(name);
  field.form = form;
  field.boolean = std::is_same_v<T, bool>;
  field.min = min;
  field.max = max;
  field.help = std::move(help);
  field.get = [=](const Scenario& s) { return static_cast<int64_t>(s.*part.*member); };
  field.set = [=](Scenario& s, int64_t value) { s.*part.*member = static_cast<T>(value); };
  table.push_back(std::move(field));
}

void add_machine(Table& table) {
  using machine::Config;
  const auto own = [&table](const char* name, auto member, int64_t min, int64_t max,
                            const char* help) {
    add(table, name, Form::own, &Scenario::machine, member, min, max, help);
  };
  own("cpus", &Config::cpus, 1, machine::kMaxCpus, "Virtual CPUs");
  own("boot_cpus", &Config::boot_cpus, 0, machine::kMaxCpus, "How many are online at boot; 0: all");
  own("smt", &Config::smt, 1, 8, "Threads per core");
  own("nodes", &Config::nodes, 0, 64, "NUMA nodes; 0: one per 8 CPUs");
  own("alloc_fail", &Config::alloc_fail, 0, 1'000'000'000,
      "Fail one allocation in so many; 0: none");
  own("hotplug_fail", &Config::hotplug_fail, 0, 1'000'000'000,
      "Fail one hotplug operation in so many; 0: none");
  own("warnings_expected", &Config::warnings_expected, 0, 1,
      "Do not take a WARN of the stack for a failure");
  own("step_bound", &Config::step_bound, 0, kMaxSteps,
      "Steps after which an execution is a livelock; 0: far above what it should take");
  own("timer_lead_ns", &Config::timer_lead_ns, 0, kHour * 1'000'000'000,
      "How far ahead of the present a timer may fire, in virtual ns");
}

void add_kernel(Table& table) {
  const auto param = [&table](kernel::Param which, const char* name, Form form, int64_t min,
                              int64_t max, const char* help) {
    const auto at = static_cast<size_t>(which);
    Field field;
    field.name = name;
    field.form = form;
    field.min = min;
    field.max = max;
    field.help = help;
    field.get = [at](const Scenario& s) { return s.machine.params[at]; };
    field.set = [at](Scenario& s, int64_t value) { s.machine.params[at] = value; };
    table.push_back(std::move(field));
  };
  using kernel::Param;
  param(Param::csdlock_debug, "csdlock_debug", Form::boot, 0, 1, "Debugging of csd locks");
  param(Param::csd_lock_timeout, "csd_lock_timeout", Form::smp, 0, kHour * 1000,
        "Complain about a csd lock after so many virtual ms; 0: never");
  param(Param::panic_on_ipistall, "panic_on_ipistall", Form::smp, 0, kHour * 1000,
        "Panic after so many virtual ms of one csd lock; 0: never");
  param(Param::ipi_mask_inlined, "ipi_mask_inlined", Form::own, -1, 1,
        "Mask of a task: 1 inline, 0 allocated, -1 inline up to 64 CPUs");
  param(Param::maskless_init_task, "maskless_init_task", Form::own, 0, 1,
        "The task that plays init_task has no mask");
  param(Param::idle_poll_percent, "idle_poll_percent", Form::own, 0, 100,
        "How often of 100 an idle CPU may poll instead of halt");
  param(Param::irq_work_from_tick, "irq_work_from_tick", Form::own, 0, 1,
        "irq_work has no interrupt of its own: it runs from the tick, and irq_work_sync() sleeps");
  param(Param::global_call_queue, "global_call_queue", Form::own, 0, 1,
        "smp_call_function_many() as it was up to 2.6.38, by one queue for all CPUs");
}

void add_scftorture(Table& table) {
  using scf::ScfParams;
  const auto scf = [&table](const char* name, Form form, auto member, int64_t min, int64_t max,
                            const char* help) {
    add(table, name, form, &Scenario::scf, member, min, max, help);
  };
  const Form own = Form::own;
  const Form module = Form::scftorture;
  scf("ops", own, &ScfParams::ops, 0, 100'000,
      "Operations per thread and execution; 0: until shutdown_secs");
  scf("onoff_ops", own, &ScfParams::onoff_ops, 0, 1'000'000,
      "Hotplug operations per execution; 0: no limit");
  scf("swaps", own, &ScfParams::swaps, 0, scf::kMaxSwaps,
      "Tasks that stop two CPUs at a time, as NUMA balancing does; each does ops such stops");
  scf("softirqs", own, &ScfParams::softirqs, 0, 1'000'000,
      "One handler in so many raises a softirq; 0: none");
  scf("holdoff", module, &ScfParams::holdoff, 0, kHour, "Virtual s before the threads start");
  scf("longwait", module, &ScfParams::longwait, 0, kHour,
      "Handlers may busy-wait so many virtual s; 0: never");
  scf("nthreads", module, &ScfParams::nthreads, -1, 1024, "Threads; -1: one per online CPU");
  scf("onoff_holdoff", module, &ScfParams::onoff_holdoff, 0, kHour,
      "Virtual s before hotplug starts");
  scf("onoff_interval", module, &ScfParams::onoff_interval, 0, kHourOfJiffies,
      "Virtual jiffies between hotplug operations; 0: no hotplug");
  scf("shutdown_secs", module, &ScfParams::shutdown_secs, 0, kHour,
      "Virtual s after which an execution ends; 0: when all operations are done");
  scf("stutter", module, &ScfParams::stutter, 0, kHourOfJiffies,
      "Virtual jiffies to run and to pause; 0: no pauses");
  scf("use_cpus_read_lock", module, &ScfParams::use_cpus_read_lock, 0, 1,
      "Hold cpus_read_lock() around operations");
  scf("verbose", module, &ScfParams::verbose, 0, 10,
      "Progress lines; above 1 also each hotplug operation");
  scf("shutdown", module, &ScfParams::shutdown, 0, 1,
      "Shown in the parameter line only, as in the kernel");
  for (unsigned i = 0; i < scf::kPrims; i++) {
    Field field;
    const auto prim = static_cast<scf::Prim>(i);
    field.name = scf::prim_weight_name(prim);
    field.form = module;
    field.min = -1;
    field.max = 1'000'000;
    field.help = i == 0 ? "Relative weights of the operations; -1: default" : "";
    if (prim == scf::Prim::relay)
      field.help = "Requests that interrupt handlers pass on, with an irq_work at the end";
    field.get = [i](const Scenario& s) { return s.scf.weights[i]; };
    field.set = [i](Scenario& s, int64_t value) { s.scf.weights[i] = static_cast<int>(value); };
    table.push_back(std::move(field));
  }
  const Form framework = Form::torture;
  scf("disable_onoff_at_boot", framework, &ScfParams::disable_onoff_at_boot, 0, 1,
      "No hotplug before the test has started");
  scf("ftrace_dump_at_shutdown", framework, &ScfParams::ftrace_dump_at_shutdown, 0, 0,
      "executions end too often to print the trace of each; see shootdown replay --events");
  scf("verbose_sleep_frequency", framework, &ScfParams::verbose_sleep_frequency, 0, 1'000'000,
      "Sleep at every so many verbose lines; 0: never");
  scf("verbose_sleep_duration", framework, &ScfParams::verbose_sleep_duration, 0, kHourOfJiffies,
      "for so many virtual jiffies");
  scf("random_shuffle", framework, &ScfParams::random_shuffle, 0, kHourOfJiffies,
      "Move all torture tasks off one CPU every so many virtual jiffies; 0: never");
}

}  // namespace

std::string Field::expected() const {
  if (boolean) return max == 0 ? "0: " + help : "0 or 1";
  return "a number from " + std::to_string(min) + " to " + std::to_string(max);
}

void Field::parse(Scenario& scenario, const std::string& text) const {
  if (boolean) {
    const auto value = parse_bool(text);
    if (!value || (*value && max == 0)) usage_error(quote(text) + " is not " + expected());
    set(scenario, *value ? 1 : 0);
    return;
  }
  const auto value = parse_int(text);
  if (!value || *value < min || *value > max) usage_error(quote(text) + " is not " + expected());
  set(scenario, *value);
}

std::string Field::kernel_name() const {
  switch (form) {
    case Form::own:
      return {};
    case Form::boot:
      return name;
    case Form::smp:
      return "smp." + name;
    case Form::scftorture:
      return "scftorture." + name;
    case Form::torture:
      return "torture." + name;
  }
  return {};
}

const std::vector<Field>& fields() {
  static const Table table = [] {
    Table t;
    add_machine(t);
    add_kernel(t);
    add_scftorture(t);
    return t;
  }();
  return table;
}

}  // namespace sd::torture
