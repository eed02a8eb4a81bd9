// Enqueues thousands of owners after a change, some in each turn of the loop.
#pragma once

#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "manager/cache/cache_view.h"
#include "manager/controller/request.h"
#include "manager/object/kind.h"

namespace mandate {

// One tenant may have thousands of owners of one demand. If one turn of the loop enqueued all of
// them, the events of other tenants would wait. So a change of such a stream begins a round, which
// enqueues its owners in slices, and several streams take turns. All changes that come during a
// round are handled by one more round. A value; not thread-safe.
class OwnerRounds {
 public:
  static constexpr size_t kSlice = 256;

  using Owners =
      absl::FunctionRef<void(const DemandSpec&, absl::FunctionRef<void(const ObjectKey&)>)>;

  // Begins a round of the stream, or one more after the present round. True: there was no other
  // round. Then the caller takes a slice in each turn of the loop until empty().
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
