// The stores of one kind whose watches were closed, while other watches are behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "absl/functional/function_ref.h"
#include "manager/cache/known_store.h"

namespace mandate {

// One for each scope: the one that got furthest knows what the others knew. A watch that is
// down may stay behind for days, so their number is bounded; each is found without a look at the
// others. Loop thread only.
class ClosedStores {
 public:
  // Of more than `most`, the one that was closed first is forgotten. Then a watch that is behind
  // may show an object that was deleted meanwhile once more, until it catches up.
  explicit ClosedStores(size_t most) : most_(most) {}

  bool empty() const { return by_scope_.empty(); }
  size_t size() const { return by_scope_.size(); }

  // `known` is filled. Returns how many were forgotten because there are too many.
  size_t Add(std::shared_ptr<KnownStore> known);
  // Removes those that overlap `moved` and of which `is_needed` is false.
  void Sweep(const KnownStore& moved, absl::FunctionRef<bool(KnownStore&)> is_needed);

  // Calls `found` for each store that has the object in its scope, whatever the labels are.
  void ForEach(const RawObject& object, absl::FunctionRef<void(KnownStore&)> found) const;
  void ForEach(absl::FunctionRef<void(KnownStore&)> found) const;
  // Calls `found` for each store whose scope overlaps that of `known`.
  void ForEachOverlapping(const KnownStore& known,
                          absl::FunctionRef<void(KnownStore&)> found) const;

 private:
  using Scope = std::tuple<std::string, std::string, std::string>;  // namespace, name, labels
  struct Entry {
    std::shared_ptr<KnownStore> known;
    uint64_t number;  // in the order of closing
  };
  using Entries = std::map<Scope, Entry, std::less<>>;

  // The same for the object with this name.
  void ForEachAtPlace(const std::string& ns, const std::string& name,
                      absl::FunctionRef<void(KnownStore&)> found) const;
  // The same for those with exactly this namespace and this name.
  void ForEachAt(const std::string& ns, const std::string& name,
                 absl::FunctionRef<void(KnownStore&)> found) const;
  void ForEachIn(const std::string& ns, absl::FunctionRef<void(KnownStore&)> found) const;

  const size_t most_;
  uint64_t last_number_ = 0;
  Entries by_scope_;
  std::map<uint64_t, Entries::iterator> by_number_;
};

}  // namespace mandate
