// The stores of one kind whose watches have a label selector, found by object.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "manager/cache/known_store.h"
#include "manager/cache/label_index.h"

namespace mandate {

// An object concerns a store with a selector if it matches, or if the store has it, because then it
// may no longer match. Both are found without a look at other stores. Loop thread only.
class SelectedStores {
 public:
  bool empty() const { return by_namespace_.empty(); }

  // `known` has a selector, and outlives its entry.
  void Add(KnownStore& known);
  void Remove(KnownStore& known);

  // The store has got, or lost, these objects; has another content.
  void Note(KnownStore& known, const std::vector<ObjectEvent>& events);
  void NoteReplaced(KnownStore& known, const ObjectSet& before);

  // Calls `found` for each store that the object concerns; `matches`: its scope has the object.
  void ForEach(const RawObject& object,
               absl::FunctionRef<void(KnownStore&, bool matches)> found) const;
  // Calls `found` for each filled store that has this object.
  void ForEachHolder(const ObjectKey& key, absl::FunctionRef<void(KnownStore&)> found) const;
  // Calls `found` for each store whose scope overlaps this namespace (empty: all).
  void ForEachIn(const std::string& ns, absl::FunctionRef<void(KnownStore&)> found) const;

 private:
  using Holders = absl::InlinedVector<KnownStore*, 2>;

  void Hold(KnownStore& known, const ObjectPtr& object);
  void Drop(KnownStore& known, const ObjectPtr& object);

  std::map<std::string, LabelIndex<KnownStore*>> by_namespace_;  // "": cluster-wide
  absl::flat_hash_map<ObjectKey, Holders> holders_;              // filled stores only
};

}  // namespace mandate
