#include "manager/cache/testing/model/demand_owners.h"

#include <algorithm>
#include <set>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/selector.h"

namespace mandate::model {

bool DemandOwners::Wants(const Owner& owner, const WatchScope& stream, const ObjectLabels& labels) {
  return std::ranges::any_of(owner.demands, [&](const WatchScope& demand) {
    return demand.WithoutSelector() == stream && Selects(demand.selector, labels);
  });
}

Content DemandOwners::Selected(const Owner& owner, const WatchScope& stream) const {
  Content selected;
  const ModelSink& sink = *open_.at(stream)->sink;
  for (const auto& [key, version] : sink.content()) {
    if (Wants(owner, stream, sink.labels().at(key))) selected[key] = version;
  }
  return selected;
}

void DemandOwners::Replace(const std::string& name, const std::string& uid,
                           std::vector<WatchScope> demands) {
  std::vector<SelectedDemand> selected;
  for (const WatchScope& demand : demands) {
    selected.push_back({demand.WithoutSelector().Spec(), *LabelSelector::Parse(demand.selector)});
  }
  Owner& owner = owners_[name];
  owner = {uid, std::move(demands), {}};
  Apply(table_.Replace(NameOf(name, uid), selected));
  // It reads what the streams have; later changes come as events.
  for (const WatchScope& demand : owner.demands) {
    const WatchScope stream = demand.WithoutSelector();
    owner.told[stream] = Selected(owner, stream);
  }
}

void DemandOwners::Release(const std::string& name) {
  owners_.erase(name);
  Apply(table_.Release({"owners", name}));
}

void DemandOwners::ReleaseAll() {
  owners_.clear();
  Apply(table_.ReleaseAll());
}

void DemandOwners::Apply(DemandTable::Change change) {
  // The table has them in the order of their addresses, and a seed must replay.
  const auto by_name = [](const DemandSpec& a, const DemandSpec& b) {
    return std::pair(a.ns, a.name) < std::pair(b.ns, b.name);
  };
  std::ranges::sort(change.opened, by_name);
  std::ranges::sort(change.closed, by_name);
  for (const DemandSpec& spec : change.opened) {
    const WatchScope stream = {spec.ns, spec.name};
    if (open_.contains(stream)) {
      config_.violations.Add("I9", config_.component, " opens \"", stream.ToString(), "\" twice");
    }
    open_[stream] =
        config_.open(stream, [this, stream](const ObjectEvent* event) { Route(stream, event); });
  }
  for (const DemandSpec& spec : change.closed) {
    auto node = open_.extract(WatchScope{spec.ns, spec.name});
    if (!node.empty()) config_.close(std::move(node.mapped()));
  }
}

std::vector<WatchScope> DemandOwners::Streams() const {
  std::set<WatchScope> streams;
  for (const auto& [name, owner] : owners_) {
    for (const WatchScope& demand : owner.demands) streams.insert(demand.WithoutSelector());
  }
  return {streams.begin(), streams.end()};
}

void DemandOwners::Route(const WatchScope& stream, const ObjectEvent* event) {
  if (event == nullptr) {
    for (auto& [name, owner] : owners_) owner.told.erase(stream);
    return;
  }
  const ObjectKey key = event->object->Key();
  const bool is_gone = event->type == ObjectEvent::Type::kDelete;
  const ObjectLabels now = event->object->Header().labels;
  const ObjectLabels old = event->old != nullptr ? event->old->Header().labels : now;
  std::set<std::string> found;
  const auto add = [&](const ObjectKey& owner) { found.insert(owner.name); };
  table_.ForEachOwner(stream.Spec(), now, add);
  table_.ForEachOwner(stream.Spec(), old, add);
  for (const std::string& name : found) {
    ++notified_;
    const auto at = owners_.find(name);
    if (at == owners_.end() ||
        !(Wants(at->second, stream, now) || Wants(at->second, stream, old))) {
      config_.violations.Add("I9", "an event of \"", stream.ToString(), "\" finds ", name,
                             ", which does not demand it");
      continue;
    }
    Content& told = at->second.told[stream];
    if (is_gone || !Wants(at->second, stream, now)) {
      told.erase(key);
    } else {
      told[key] = VersionOf(*event->object);
    }
  }
}

void DemandOwners::Check() const {
  std::vector<WatchScope> streams;
  for (const auto& [stream, open] : open_) streams.push_back(stream);
  if (streams != Streams()) {
    config_.violations.Add("I9", config_.component, " has ", streams.size(),
                           " demands open; its owners have committed ", Streams().size());
  }
  for (const auto& [name, owner] : owners_) {
    for (const WatchScope& demand : owner.demands) {
      const WatchScope stream = demand.WithoutSelector();
      if (!open_.contains(stream)) continue;
      const auto found = owner.told.find(stream);
      const Content told = found == owner.told.end() ? Content() : found->second;
      if (const Content selected = Selected(owner, stream); told != selected) {
        config_.violations.Add("I5", name, " knows ", ToString(told), " of \"", demand.ToString(),
                               "\", which has ", ToString(selected));
      }
    }
  }
}

}  // namespace mandate::model
