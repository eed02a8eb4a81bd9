#include "manager/cache/known_store.h"

#include <utility>

namespace mandate {
namespace {

LabelSelector SelectorOf(const std::string& labels) {
  auto selector = LabelSelector::Parse(labels);
  if (selector.ok()) return *std::move(selector);
  // No object has both: the server rejects such a watch, and nothing is taken over from others.
  return *LabelSelector::Parse("invalid,!invalid");
}

}  // namespace

bool IsAtMost(std::string_view a, std::string_view b) {
  const auto left = ParseResourceVersion(a);
  const auto right = ParseResourceVersion(b);
  return left && right && *left <= *right;
}

KnownStore::KnownStore(DemandSpec s, std::shared_ptr<ObjectStore> kept, StoreListener* told,
                       size_t most)
    : scope(std::move(s)),
      selector(SelectorOf(scope.labels)),
      store(std::move(kept)),
      listener(told),
      most_events(most) {}

bool KnownStore::HasInScope(const RawObject& object) const {
  return (scope.ns.empty() || scope.ns == object.ns()) &&
         (scope.name.empty() || scope.name == object.name());
}

bool KnownStore::Covers(const RawObject& object) const {
  if (!HasInScope(object)) return false;
  return !IsSelected() || selector.Matches(object.Header().labels);
}

bool KnownStore::Overlaps(const KnownStore& other) const {
  const auto meet = [](const std::string& a, const std::string& b) {
    return a.empty() || b.empty() || a == b;
  };
  return meet(scope.ns, other.scope.ns) && meet(scope.name, other.scope.name);
}

void KnownStore::NoteLeft(const RawObject& object) {
  if (followed != nullptr) return;  // that watch knows it, too
  left[object.Key()] = std::string(object.resource_version());
}

bool KnownStore::HasLeft(const RawObject& object) const {
  if (left.empty()) return false;
  const auto found = left.find(object.Key());
  return found != left.end() && IsOlder(object.resource_version(), found->second);
}

std::shared_ptr<KnownStore> KnownStore::WithoutObjects() const {
  auto made =
      std::make_shared<KnownStore>(scope, std::make_shared<ObjectStore>(), nullptr, most_events);
  made->own_version = version();
  made->left = left;
  made->is_without_objects = true;
  for (const ObjectPtr& object : store->List()) made->NotePut(*object);
  return made;
}

void KnownStore::NotePut(const RawObject& object) {
  std::string& version = versions[object.Key()];
  if (version.empty() || IsOlder(version, object.resource_version())) {
    version = object.resource_version();
  }
}

void KnownStore::NoteRemoved(const RawObject& object) {
  const auto found = versions.find(object.Key());
  if (found == versions.end() || IsOlder(object.resource_version(), found->second)) return;
  versions.erase(found);
}

void KnownStore::MoveTo(std::string version) {
  own_version = std::move(version);
  if (left.empty()) return;
  absl::erase_if(left, [&](const auto& entry) { return IsAtMost(entry.second, own_version); });
}

}  // namespace mandate
