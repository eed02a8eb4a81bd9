#include "manager/cache/demand_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "manager/cache/label_index.h"

namespace mandate {

// A selector that demands use.
struct DemandTable::Selector {
  LabelSelector selector;
  std::string text;
  size_t uses = 0;
};

// The owners of one watch. Each entry of an owner is in exactly one of the two.
struct DemandTable::Stream {
  using Selecting = std::pair<const Owner*, const Selector*>;

  bool IsEmpty() const { return everything.empty() && selecting.empty(); }

  DemandSpec spec;
  absl::flat_hash_set<const Owner*> everything;  // without a selector
  LabelIndex<Selecting> selecting;
  size_t demands = 0;                                  // the entries of both
  absl::flat_hash_map<uint32_t, uint32_t> namespaces;  // of the owners; the number of demands
};

struct DemandTable::Owner {
  DemandOwner name;
  uint32_t ns = 0;             // the number of its namespace
  std::vector<Entry> entries;  // each once
  bool is_sorted = true;       // by stream, then by selector
};

DemandSpec SelectedDemand::Stream() const {
  DemandSpec stream = spec;
  if (!spec.name.empty() || !spec.labels.empty() || selector.MatchesEverything()) return stream;
  const bool is_private = spec.kind.group.empty() &&
                          (spec.kind.plural == "secrets" || spec.kind.plural == "configmaps");
  const bool on_server =
      mode == SelectorMode::kServer || (mode == SelectorMode::kDefault && is_private);
  if (on_server) stream.labels = selector.ToString();
  return stream;
}

DemandTable::DemandTable() = default;
DemandTable::~DemandTable() = default;

DemandTable::Owner& DemandTable::OwnerFor(const DemandOwner& owner) {
  auto& slot = owners_[owner.key];
  if (slot == nullptr) {
    slot = std::make_unique<Owner>();
    slot->ns = namespaces_.Use(owner.key.ns);
  }
  slot->name = owner;
  return *slot;
}

DemandTable::Entry DemandTable::Intern(const SelectedDemand& demand) {
  const DemandSpec spec = demand.Stream();
  auto& stream = streams_[spec];
  if (stream == nullptr) {
    stream = std::make_unique<Stream>();
    stream->spec = spec;
  }
  // What the server selects need not be routed.
  if (demand.selector.MatchesEverything() || spec != demand.spec) {
    return {stream.get(), nullptr};
  }
  std::string text = demand.selector.ToString();
  auto& selector = selectors_[text];
  if (selector == nullptr) {
    selector = std::make_unique<Selector>();
    selector->selector = demand.selector;
    selector->text = std::move(text);
  }
  return {stream.get(), selector.get()};
}

bool DemandTable::IsLinked(const Owner& owner, const Entry& entry) {
  const Stream& stream = *entry.stream;
  const Selector* selector = entry.selector;
  if (selector == nullptr) return stream.everything.contains(&owner);
  return stream.selecting.Contains(selector->selector, {&owner, selector});
}

void DemandTable::Link(const Owner& owner, const Entry& entry, Change& change) {
  Stream& stream = *entry.stream;
  const bool is_new = stream.IsEmpty();
  if (is_new) change.opened.push_back(stream.spec);
  if (++stream.namespaces[owner.ns] == 1 && !is_new) change.joined.push_back(stream.spec);
  ++stream.demands;
  ++demands_;
  Selector* selector = entry.selector;
  if (selector == nullptr) {
    stream.everything.insert(&owner);
    return;
  }
  ++selector->uses;
  stream.selecting.Insert(selector->selector, {&owner, selector});
}

void DemandTable::Unlink(const Owner& owner, const Entry& entry, Change& change) {
  Stream& stream = *entry.stream;
  const auto of = stream.namespaces.find(owner.ns);
  if (--of->second == 0) stream.namespaces.erase(of);
  --stream.demands;
  --demands_;
  Selector* selector = entry.selector;
  if (selector == nullptr) {
    stream.everything.erase(&owner);
  } else {
    stream.selecting.Erase(selector->selector, {&owner, selector});
  }
  if (selector != nullptr && --selector->uses == 0) {
    const std::string text = std::move(selector->text);
    selectors_.erase(text);
  }
  if (!stream.IsEmpty()) return;
  change.closed.push_back(stream.spec);
  streams_.erase(change.closed.back());
}

DemandTable::Change DemandTable::Replace(const DemandOwner& owner,
                                         const std::vector<SelectedDemand>& demands) {
  if (demands.empty()) return Release(owner.key);
  Change change;
  std::vector<Entry> wanted;
  wanted.reserve(demands.size());
  for (const SelectedDemand& demand : demands) wanted.push_back(Intern(demand));
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  Owner& entry_owner = OwnerFor(owner);
  std::vector<Entry> before = std::exchange(entry_owner.entries, wanted);
  if (!std::exchange(entry_owner.is_sorted, true)) std::sort(before.begin(), before.end());
  std::vector<Entry> added, removed;
  std::set_difference(wanted.begin(), wanted.end(), before.begin(), before.end(),
                      std::back_inserter(added));
  std::set_difference(before.begin(), before.end(), wanted.begin(), wanted.end(),
                      std::back_inserter(removed));
  // A stream whose demand only changes its selector stays open.
  for (const Entry& entry : added) Link(entry_owner, entry, change);
  for (const Entry& entry : removed) Unlink(entry_owner, entry, change);
  return change;
}

DemandTable::Change DemandTable::Add(const DemandOwner& owner, const SelectedDemand& demand) {
  const auto found = owners_.find(owner.key);
  if (found == owners_.end() || found->second->name.uid != owner.uid) {
    return Replace(owner, {demand});
  }
  Change change;
  Owner& entry_owner = *found->second;
  const Entry entry = Intern(demand);
  if (IsLinked(entry_owner, entry)) return change;
  // An insertion in order would take time in proportion to the owner's other demands.
  entry_owner.is_sorted = false;
  entry_owner.entries.push_back(entry);
  Link(entry_owner, entry, change);
  return change;
}

DemandTable::Change DemandTable::Release(const ObjectKey& key, std::string_view uid) {
  Change change;
  const auto found = owners_.find(key);
  if (found == owners_.end() || (!uid.empty() && found->second->name.uid != uid)) return change;
  for (const Entry& entry : found->second->entries) Unlink(*found->second, entry, change);
  namespaces_.Release(found->second->ns);
  owners_.erase(found);
  return change;
}

DemandTable::Change DemandTable::ReleaseAll() {
  Change change;
  for (const auto& [spec, stream] : streams_) change.closed.push_back(spec);
  owners_.clear();
  streams_.clear();
  selectors_.clear();
  namespaces_ = {};
  demands_ = 0;
  return change;
}

void DemandTable::ForEachOwner(const DemandSpec& stream,
                               absl::FunctionRef<void(const ObjectKey&)> found) const {
  const auto at = streams_.find(stream);
  if (at == streams_.end()) return;
  for (const Owner* owner : at->second->everything) found(owner->name.key);
  at->second->selecting.ForEach(
      [&](const Stream::Selecting& entry) { found(entry.first->name.key); });
}

void DemandTable::ForEachOwner(const DemandSpec& stream, const Labels& labels,
                               absl::FunctionRef<void(const ObjectKey&)> found) const {
  const auto at = streams_.find(stream);
  if (at == streams_.end()) return;
  for (const Owner* owner : at->second->everything) found(owner->name.key);
  at->second->selecting.ForEachCandidate(labels, [&](const Stream::Selecting& entry) {
    if (entry.second->selector.Matches(labels)) found(entry.first->name.key);
  });
}

size_t DemandTable::MostOwners(const DemandSpec& stream) const {
  const auto at = streams_.find(stream);
  return at == streams_.end() ? 0 : at->second->demands;
}

size_t DemandTable::MostOwners(const DemandSpec& stream, const Labels& labels) const {
  const auto at = streams_.find(stream);
  if (at == streams_.end()) return 0;
  return at->second->everything.size() + at->second->selecting.CountCandidates(labels);
}

std::set<std::string> DemandTable::NamespacesOfOwners(const DemandSpec& stream) const {
  std::set<std::string> namespaces;
  const auto at = streams_.find(stream);
  if (at == streams_.end()) return namespaces;
  for (const auto& [ns, demands] : at->second->namespaces) {
    namespaces.insert(namespaces_.NameOf(ns));
  }
  return namespaces;
}

bool DemandTable::HasSelectors(const DemandSpec& stream) const {
  const auto at = streams_.find(stream);
  return at != streams_.end() && !at->second->selecting.empty();
}

std::vector<DemandSpec> DemandTable::StreamsOf(const ObjectKey& key) const {
  std::vector<DemandSpec> streams;
  const auto found = owners_.find(key);
  if (found == owners_.end()) return streams;
  std::vector<Entry> sorted;
  const Owner& owner = *found->second;
  if (!owner.is_sorted) {
    sorted = owner.entries;
    std::sort(sorted.begin(), sorted.end());
  }
  const Stream* last = nullptr;
  for (const Entry& entry : owner.is_sorted ? owner.entries : sorted) {
    if (std::exchange(last, entry.stream) != entry.stream) streams.push_back(entry.stream->spec);
  }
  return streams;
}

}  // namespace mandate
