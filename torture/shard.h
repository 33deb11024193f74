// A part of the executions of a run that several machines share: of n shards, shard i runs those
// whose number is i modulo n, so that none runs twice and all together are the whole run.
#pragma once

#include <cstdint>
#include <string>

namespace sd::torture {

struct Shard {
  uint64_t index = 0;  // below count
  uint64_t count = 1;

  // The number in the whole run of this shard's nth execution.
  uint64_t number(uint64_t nth) const { return index + nth * count; }
  // How many executions of a run of so many are this shard's.
  uint64_t share_of(uint64_t executions) const;
  // Whether an execution can be in both shards.
  bool meets(const Shard& other) const;
  bool is_whole() const { return count == 1; }
  std::string text() const;  // "2/3", as a user writes it: from 1
};

// "2/3"; or "auto" for a task of a Slurm array, "auto/3" for a pod of a Kubernetes indexed job of
// 3, which both know their own number from the environment. usage_error() for anything else.
Shard parse_shard(const std::string& text);

}  // namespace sd::torture
