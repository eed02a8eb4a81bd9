#include "manager/cache/known_store.h"

#include <algorithm>
#include <utility>

namespace mandate {
namespace {

LabelSelector SelectorOf(const std::string& labels) {
  auto selector = LabelSelector::Parse(labels);
  if (selector.ok()) return *std::move(selector);
  // No object has both: the server rejects such a watch, and nothing is taken over from others.
  return *LabelSelector::Parse("invalid,!invalid");
}

// Two namespaces, or two names; empty: all.
bool Meet(std::string_view a, std::string_view b) { return a.empty() || b.empty() || a == b; }

}  // namespace

bool IsAtMost(std::string_view a, std::string_view b) {
  const auto left = ParseResourceVersion(a);
  const auto right = ParseResourceVersion(b);
  return left && right && *left <= *right;
}

KnownStore::KnownStore(DemandSpec s, std::shared_ptr<ObjectStore> kept, StoreListener* told,
                       size_t most, ClosedScopes others)
    : scope(std::move(s)),
      selector(SelectorOf(scope.labels)),
      store(std::move(kept)),
      listener(told),
      most_events(most),
      closed(std::move(others)) {}

bool KnownStore::HasInScope(const RawObject& object) const {
  return (scope.ns.empty() || scope.ns == object.ns()) &&
         (scope.name.empty() || scope.name == object.name());
}

bool KnownStore::Covers(const RawObject& object) const {
  if (!HasInScope(object)) return false;
  return !IsSelected() || selector.Matches(object.Header().labels);
}

bool KnownStore::Overlaps(const KnownStore& other) const {
  return Meet(scope.ns, other.scope.ns) && Meet(scope.name, other.scope.name);
}

void KnownStore::NoteLeft(const RawObject& object) {
  if (followed != nullptr) return;  // that watch knows it, too
  std::string& version = left[object.Key()];
  if (!IsOlder(object.resource_version(), version)) version = object.resource_version();
}

void KnownStore::NoteClosed(const KnownStore& other) {
  if (followed != nullptr) return;  // that watch notes it, too
  std::string_view known = own_version;
  if (IsOlder(known, other.version())) {
    const uint64_t version = *ParseResourceVersion(other.version());
    closed_version = std::max(closed_version, version);
    if (!other.IsSelected()) {
      known = other.version();
      NoteClosedAt(other.scope.ns, other.scope.name, version);
    }
  }
  if (!IsSelected()) return;  // it has all these objects itself
  for (const ObjectPtr& object : other.store->List(scope.ns)) {
    if (IsOlder(known, object->resource_version()) && HasInScope(*object) && !Covers(*object)) {
      NoteLeft(*object);
    }
  }
}

void KnownStore::NoteClosedAt(std::string_view ns, std::string_view name, uint64_t version) {
  // What is in both scopes.
  closed.Add(scope.ns.empty() ? ns : scope.ns, scope.name.empty() ? name : scope.name, version);
}

bool KnownStore::HasLeft(const RawObject& object) const {
  if (!closed.empty()) {
    const auto version = ParseResourceVersion(object.resource_version());
    const bool knew = version && closed.Knew(object.ns(), object.name(), *version);
    if (knew && store->Get(object.ns(), object.name()) == nullptr) return true;
  }
  if (left.empty()) return false;
  const auto found = left.find(object.Key());
  return found != left.end() && IsOlder(object.resource_version(), found->second);
}

void KnownStore::MoveTo(std::string version) {
  own_version = std::move(version);
  if (!IsAhead() && left.empty()) return;
  if (const auto reached = ParseResourceVersion(own_version)) ForgetUpTo(*reached);
}

void KnownStore::ForgetUpTo(uint64_t version) {
  closed.MoveTo(version);
  if (closed_version <= version) closed_version = 0;
  absl::erase_if(left, [&](const auto& entry) {
    const auto noted = ParseResourceVersion(entry.second);
    return noted && *noted <= version;
  });
}

void KnownStore::Unfollow() {
  const KnownStore& wider = *followed;
  MoveTo(wider.version());
  followed = nullptr;
  store->FollowVersionOf(nullptr);
  store->SetResourceVersion(own_version);
  closed_version = std::max(closed_version, wider.closed_version);
  wider.closed.ForEach([&](std::string_view ns, std::string_view name, uint64_t version) {
    if (Meet(scope.ns, ns) && Meet(scope.name, name)) NoteClosedAt(ns, name, version);
  });
  for (const auto& [key, version] : wider.left) {
    if (Meet(scope.ns, key.ns) && Meet(scope.name, key.name)) left[key] = version;
  }
}

}  // namespace mandate
