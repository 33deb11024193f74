// Which CPUs are near each other.
#pragma once

namespace sd::machine {

class Topology {
 public:
  // `smt` threads per core and `nodes` NUMA nodes (0: one per 8 CPUs); CPUs are numbered thread by
  // thread, core by core, node by node.
  void configure(unsigned cpus, unsigned smt, unsigned nodes);

  unsigned nodes() const { return nodes_; }
  unsigned node_of(unsigned cpu) const { return cpu / cpus_per_node_; }
  // 0 the same CPU, 1 an SMT sibling, 2 the same node, 3 another node.
  unsigned distance(unsigned a, unsigned b) const {
    if (a == b) return 0;
    if (a / smt_ == b / smt_) return 1;
    return node_of(a) == node_of(b) ? 2 : 3;
  }

 private:
  unsigned smt_ = 1;
  unsigned nodes_ = 1;
  unsigned cpus_per_node_ = 1;
};

}  // namespace sd::machine
