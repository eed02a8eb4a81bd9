#include "manager/cache/closed_stores.h"

#include <utility>
#include <vector>

namespace mandate {

size_t ClosedStores::Add(std::shared_ptr<KnownStore> known) {
  const DemandSpec& spec = known->scope;
  const auto [it, is_new] =
      by_scope_.try_emplace({spec.ns, spec.name, spec.labels}, Entry{nullptr, 0});
  if (!is_new) {
    // A list may be older than what the watch before it had seen.
    if (IsOlder(known->version(), it->second.known->version())) return 0;
    by_number_.erase(it->second.number);
  }
  it->second = {std::move(known), ++last_number_};
  by_number_[last_number_] = it;
  if (by_scope_.size() <= most_) return 0;
  by_scope_.erase(by_number_.begin()->second);
  by_number_.erase(by_number_.begin());
  return 1;
}

void ClosedStores::Sweep(const KnownStore& moved, absl::FunctionRef<bool(KnownStore&)> is_needed) {
  std::vector<const KnownStore*> unneeded;
  ForEachOverlapping(moved, [&](KnownStore& known) {
    if (!is_needed(known)) unneeded.push_back(&known);
  });
  for (const KnownStore* known : unneeded) {
    const auto it = by_scope_.find(Scope(known->scope.ns, known->scope.name, known->scope.labels));
    by_number_.erase(it->second.number);
    by_scope_.erase(it);
  }
}

void ClosedStores::ForEach(const RawObject& object,
                           absl::FunctionRef<void(KnownStore&)> found) const {
  if (!empty()) ForEachAtPlace(std::string(object.ns()), std::string(object.name()), found);
}

void ClosedStores::ForEachAtPlace(const std::string& ns, const std::string& name,
                                  absl::FunctionRef<void(KnownStore&)> found) const {
  ForEachAt("", "", found);
  ForEachAt("", name, found);
  if (ns.empty()) return;
  ForEachAt(ns, "", found);
  ForEachAt(ns, name, found);
}

void ClosedStores::ForEach(absl::FunctionRef<void(KnownStore&)> found) const {
  for (const auto& [scope, entry] : by_scope_) found(*entry.known);
}

void ClosedStores::ForEachOverlapping(const KnownStore& known,
                                      absl::FunctionRef<void(KnownStore&)> found) const {
  const auto consider = [&](KnownStore& closed) {
    if (closed.Overlaps(known)) found(closed);
  };
  if (known.scope.ns.empty()) {
    for (const auto& [scope, entry] : by_scope_) consider(*entry.known);
    return;
  }
  if (!known.scope.name.empty()) return ForEachAtPlace(known.scope.ns, known.scope.name, consider);
  ForEachIn("", consider);
  ForEachIn(known.scope.ns, consider);
}

void ClosedStores::ForEachAt(const std::string& ns, const std::string& name,
                             absl::FunctionRef<void(KnownStore&)> found) const {
  for (auto it = by_scope_.lower_bound(Scope(ns, name, "")); it != by_scope_.end(); ++it) {
    const auto& [its_ns, its_name, labels] = it->first;
    if (its_ns != ns || its_name != name) return;
    found(*it->second.known);
  }
}

void ClosedStores::ForEachIn(const std::string& ns,
                             absl::FunctionRef<void(KnownStore&)> found) const {
  for (auto it = by_scope_.lower_bound(Scope(ns, "", ""));
       it != by_scope_.end() && std::get<0>(it->first) == ns; ++it) {
    found(*it->second.known);
  }
}

}  // namespace mandate
