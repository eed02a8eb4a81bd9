// Tells thousands of owners of a change, some in each turn of the loop.
#pragma once

#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "manager/cache/cache_view.h"
#include "manager/controller/request.h"
#include "manager/object/kind.h"

namespace mandate {

// One tenant may have thousands of owners of one demand: their requests must not keep the loop from
// the events of others. So a change of such a stream begins a round: its owners are told in slices,
// and streams take turns. Changes that come during a round are told together, in the next one. A
// value; not thread-safe.
class OwnerRounds {
 public:
  static constexpr size_t kSlice = 256;

  using Owners =
      absl::FunctionRef<void(const DemandSpec&, absl::FunctionRef<void(const ObjectKey&)>)>;

  // All owners of the stream are to be told. True: nobody waited before, so that the caller must
  // now ask for slices, one in each turn of the loop, until none is left.
  bool Begin(const DemandSpec& stream);
  // At most kSlice requests. `owners` calls its second argument for each owner of the stream.
  std::vector<Request> NextSlice(Owners owners);

  bool empty() const { return turns_.empty(); }
  void Clear();

 private:
  struct Round {
    std::vector<Request> left;
    bool again = false;  // a change has come since `left` was filled
  };

  absl::flat_hash_map<DemandSpec, Round> rounds_;
  std::deque<DemandSpec> turns_;  // of the rounds
};

}  // namespace mandate
