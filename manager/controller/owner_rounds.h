// Enqueues thousands of owners after a change, some in each turn of the loop.
#pragma once

#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/demand_table.h"
#include "manager/controller/request.h"

namespace mandate {

// One tenant may have thousands of owners of one demand. If one turn of the loop enqueued all of
// them, the events of other tenants would wait. So a change of such a stream begins a round, which
// enqueues its owners in slices, and several streams take turns. All changes that come during a
// round are handled by one more round. A value; not thread-safe.
class OwnerRounds {
 public:
  using Labels = DemandTable::Labels;

  static constexpr size_t kSlice = 256;
  // Of the changed objects, for a round. With more it is one for all owners of the stream.
  static constexpr size_t kMostLabels = 64;  // different ones
  static constexpr size_t kMostLabelBytes = 64 << 10;

  // Begins a round for all owners of the stream, or one more after the present round. True: there
  // was no other round. Then the caller takes a slice in each turn of the loop until empty().
  bool Begin(const DemandSpec& stream);
  // The same for the owners whom a change of an object with these labels concerns. For all if those
  // of the kept changes may be as many, because each change is looked up.
  bool Begin(const DemandTable& table, const DemandSpec& stream, const Labels& labels);
  // At most kSlice requests.
  std::vector<Request> NextSlice(const DemandTable& table);

  bool empty() const { return turns_.empty(); }
  void Clear();

 private:
  struct Round {
    std::vector<Request> left;
    // The changes that have come since `left` was filled.
    bool for_all = false;
    std::vector<Labels> labels;
    size_t most = 0;  // owners whom these labels concern
    size_t bytes = 0;

    bool Again() const { return for_all || !labels.empty(); }
    void ForAll();
    void Fill(const DemandSpec& stream, const DemandTable& table);
  };

  Round& Find(const DemandSpec& stream);

  absl::flat_hash_map<DemandSpec, Round> rounds_;
  std::deque<DemandSpec> turns_;  // of the rounds
};

}  // namespace mandate
