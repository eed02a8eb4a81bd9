#include "manager/cache/selected_stores.h"

#include <algorithm>
#include <string_view>

namespace mandate {

void SelectedStores::Add(KnownStore& known) {
  by_namespace_[known.scope.ns].Insert(known.selector, &known);
}

void SelectedStores::Remove(KnownStore& known) {
  const auto found = by_namespace_.find(known.scope.ns);
  found->second.Erase(known.selector, &known);
  if (found->second.empty()) by_namespace_.erase(found);
  for (const ObjectPtr& object : known.store->List()) Drop(known, object);
}

void SelectedStores::Hold(KnownStore& known, const ObjectPtr& object) {
  Holders& holders = holders_[object->Key()];
  if (std::ranges::find(holders, &known) == holders.end()) holders.push_back(&known);
}

void SelectedStores::Drop(KnownStore& known, const ObjectPtr& object) {
  const auto found = holders_.find(object->Key());
  if (found == holders_.end()) return;
  Holders& holders = found->second;
  holders.erase(std::remove(holders.begin(), holders.end(), &known), holders.end());
  if (holders.empty()) holders_.erase(found);
}

void SelectedStores::Note(KnownStore& known, const std::vector<ObjectEvent>& events) {
  for (const ObjectEvent& event : events) {
    event.type == ObjectEvent::Type::kDelete ? Drop(known, event.object)
                                             : Hold(known, event.object);
  }
}

void SelectedStores::NoteReplaced(KnownStore& known, const ObjectSet& before) {
  for (const ObjectSlot& slot : before) Drop(known, slot.object);
  for (const ObjectPtr& object : known.store->List()) Hold(known, object);
}

void SelectedStores::ForEach(const RawObject& object,
                             absl::FunctionRef<void(KnownStore&, bool)> found) const {
  if (empty()) return;
  const auto labels = object.Header().labels;
  const auto find_in = [&](const std::string& ns) {
    const auto stores = by_namespace_.find(ns);
    if (stores == by_namespace_.end()) return;
    stores->second.ForEachCandidate(labels, [&](KnownStore* known) {
      if (known->selector.Matches(labels)) found(*known, true);
    });
  };
  find_in("");
  if (!object.ns().empty()) find_in(std::string(object.ns()));
  const auto holders = holders_.find(object.Key());
  if (holders == holders_.end()) return;
  for (KnownStore* known : holders->second) {
    if (!known->selector.Matches(labels)) found(*known, false);
  }
}

void SelectedStores::ForEachHolder(const ObjectKey& key,
                                   absl::FunctionRef<void(KnownStore&)> found) const {
  const auto holders = holders_.find(key);
  if (holders == holders_.end()) return;
  for (KnownStore* known : holders->second) found(*known);
}

void SelectedStores::ForEachIn(const std::string& ns,
                               absl::FunctionRef<void(KnownStore&)> found) const {
  const auto all = [&](KnownStore* known) { found(*known); };
  if (ns.empty()) {
    for (const auto& [in, stores] : by_namespace_) stores.ForEach(all);
    return;
  }
  for (const std::string& of : {std::string(), ns}) {
    const auto stores = by_namespace_.find(of);
    if (stores != by_namespace_.end()) stores->second.ForEach(all);
  }
}

}  // namespace mandate
