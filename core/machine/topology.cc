#include "core/machine/topology.h"

#include <algorithm>

namespace sd::machine {

void Topology::configure(unsigned cpus, unsigned smt, unsigned nodes) {
  smt_ = std::max(1u, smt);
  const unsigned wanted = nodes ? nodes : std::max(1u, cpus / 8);
  // Whole cores belong to a node.
  const unsigned cores = (cpus + smt_ - 1) / smt_;
  const unsigned cores_per_node = (cores + wanted - 1) / wanted;
  cpus_per_node_ = cores_per_node * smt_;
  nodes_ = (cpus + cpus_per_node_ - 1) / cpus_per_node_;
}

}  // namespace sd::machine
