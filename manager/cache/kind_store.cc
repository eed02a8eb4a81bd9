#include "manager/cache/kind_store.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace mandate {
namespace {

// Whether both versions are known and `a` is at most `b`.
bool IsAtMost(std::string_view a, std::string_view b) {
  const auto left = ParseResourceVersion(a);
  const auto right = ParseResourceVersion(b);
  return left && right && *left <= *right;
}

bool IsSecret(const KindInfo& kind) { return kind.group.empty() && kind.plural == "secrets"; }

ObjectPacker::Options NoPacking() { return {.min_object_bytes = SIZE_MAX}; }

bool IsOrdered(std::string_view version) { return ParseResourceVersion(version).has_value(); }

}  // namespace

bool KindStore::Known::Covers(const RawObject& object) const {
  return (scope.first.empty() || scope.first == object.ns()) &&
         (scope.second.empty() || scope.second == object.name());
}

bool KindStore::Known::Overlaps(const Known& other) const {
  const auto meet = [](const std::string& a, const std::string& b) {
    return a.empty() || b.empty() || a == b;
  };
  return meet(scope.first, other.scope.first) && meet(scope.second, other.scope.second);
}

bool KindStore::Known::IsGone(const RawObject& object) const {
  return IsAtMost(object.resource_version(), version) &&
         store->Get(object.ns(), object.name()) == nullptr;
}

KindStore::KindStore(const KindInfo& kind, const ObjectPacker::Options& packing,
                     Transform transform)
    : kind_(kind),
      transform_(std::move(transform)),
      packer_(IsSecret(kind) ? NoPacking() : packing),
      mutex_(std::make_shared<Mutex>()) {}

std::unique_ptr<KindStore::Stream> KindStore::Open(const DemandSpec& scope, Listener& listener,
                                                   size_t most_events) {
  return std::unique_ptr<Stream>(
      new Stream(*this, Add({scope.ns, scope.name}, listener, most_events)));
}

std::shared_ptr<KindStore::Known> KindStore::Add(Scope scope, Listener& listener,
                                                 size_t most_events) {
  auto known = std::make_shared<Known>(Known{.scope = std::move(scope),
                                             .store = std::make_shared<ObjectStore>(mutex_),
                                             .listener = &listener,
                                             .most_events = most_events});
  watched_[known->scope] = known.get();
  return known;
}

KindStore::Stream::~Stream() { kind_.Close(std::move(known_)); }

void KindStore::Stream::Purge() {
  const std::shared_ptr<Known> old = known_;
  Listener& listener = *old->listener;
  kind_.Close(old);
  known_ = kind_.Add(old->scope, listener, old->most_events);
  if (kind_.IsEmpty()) kind_.packer_.Reset();
}

bool KindStore::IsEmpty() const {
  return closed_.empty() && std::ranges::all_of(watched_, [](const auto& watched) {
           return watched.second->version.empty();
         });
}

void KindStore::Close(std::shared_ptr<Known> known) {
  watched_.erase(known->scope);
  known->listener = nullptr;
  if (!known->version.empty()) closed_.push_back(std::move(known));
  Sweep();
}

void KindStore::Sweep() {
  std::vector<std::shared_ptr<Known>> needed;
  for (const auto& closed : closed_) {
    bool is_ahead = false;
    ForEachOverlapping(*closed, [&](Known& other) {
      is_ahead = is_ahead || (other.listener != nullptr && IsOlder(other.version, closed->version));
    });
    if (is_ahead) needed.push_back(closed);
  }
  closed_.swap(needed);
}

void KindStore::ForEachCovering(const Known& self, const RawObject& object,
                                absl::FunctionRef<void(Known&)> other) const {
  const auto consider = [&](std::string_view ns, std::string_view name) {
    const auto found = watched_.find(ScopeLess::View(ns, name));
    if (found == watched_.end() || found->second == &self) return;
    if (!found->second->version.empty()) other(*found->second);
  };
  consider("", "");
  consider("", object.name());
  if (!object.ns().empty()) {
    consider(object.ns(), "");
    consider(object.ns(), object.name());
  }
  for (const auto& closed : closed_) {
    if (closed->Covers(object)) other(*closed);
  }
}

void KindStore::ForEachOverlapping(const Known& self, absl::FunctionRef<void(Known&)> other) const {
  const auto consider = [&](Known& known) {
    if (&known != &self && !known.version.empty() && known.Overlaps(self)) other(known);
  };
  for (const auto& closed : closed_) consider(*closed);
  const std::string& ns = self.scope.first;
  if (ns.empty()) {
    for (const auto& [scope, known] : watched_) consider(*known);
    return;
  }
  for (const std::string& of : {std::string(), ns}) {
    for (auto it = watched_.lower_bound(ScopeLess::View(of, ""));
         it != watched_.end() && it->first.first == of; ++it) {
      consider(*it->second);
    }
  }
}

ObjectPtr KindStore::Stream::Pack(ObjectPtr object) {
  if (kind_.transform_ == nullptr && !kind_.packer_.IsLarge(*object)) return object;
  ObjectPtr held = store()->Get(object->ns(), object->name());
  if (held != nullptr && SameVersion(*held, *object)) return held;
  return kind_.packer_.Pack(kind_.Transformed(std::move(object)));
}

ObjectPtr KindStore::Transformed(ObjectPtr object) const {
  if (transform_ == nullptr) return object;
  ObjectPtr transformed = transform_(kind_, object);
  const bool same = transformed != nullptr && transformed->Key() == object->Key() &&
                    SameVersion(*transformed, *object);
  return same ? transformed : object;
}

std::vector<ObjectEvent> KindStore::Stream::Put(ObjectPtr object) {
  if (known_->version.empty() || kind_.IsAlone()) return store()->Put(std::move(object));
  Changes others;
  bool gone = false;
  if (IsOrdered(object->resource_version())) {
    kind_.ForEachCovering(*known_, *object, [&](Known& other) {
      gone = gone || other.IsGone(*object);
      others.emplace_back(&other, Events());
    });
  }
  Events events;
  // An object that is here is also in the other stores.
  if (gone) return events;
  {
    MutexLock lock(*kind_.mutex_);
    events = store()->PutLocked(object);
    for (auto& [other, changes] : others) changes = other->store->PutLocked(object);
  }
  for (const auto& [other, changes] : others) {
    if (!changes.empty() && other->listener != nullptr) other->listener->OnObjects(changes);
  }
  return events;
}

std::vector<ObjectEvent> KindStore::Stream::Remove(ObjectPtr object) {
  if (known_->version.empty() || kind_.IsAlone()) return store()->Remove(std::move(object));
  Changes others;
  if (IsOrdered(object->resource_version())) {
    kind_.ForEachCovering(*known_, *object,
                          [&](Known& other) { others.emplace_back(&other, Events()); });
  }
  Events events;
  {
    MutexLock lock(*kind_.mutex_);
    events = store()->RemoveLocked(object);
    for (auto& [other, changes] : others) changes = other->store->RemoveLocked(object);
  }
  for (const auto& [other, changes] : others) {
    if (!changes.empty() && other->listener != nullptr) other->listener->OnObjects(changes);
  }
  return events;
}

void KindStore::Stream::SetResourceVersion(std::string resource_version) {
  known_->version = resource_version;
  store()->SetResourceVersion(std::move(resource_version));
  if (!kind_.closed_.empty()) kind_.Sweep();
}

std::map<KindStore::Known*, KindStore::Events> KindStore::Merge(
    const Known& self, const std::string& version, ReflectorTarget::Content& content) const {
  std::map<Known*, Events> changes;
  const auto change = [&](Known& other, const ObjectPtr& old, const ObjectPtr& now) {
    AppendChange(old, now, changes[&other]);
  };
  // The objects of the list.
  std::vector<ObjectPtr> gone;
  std::vector<Known*> covering;
  for (const ObjectSlot& slot : content.objects) {
    covering.clear();
    bool is_gone = false;
    ForEachCovering(self, *slot.object, [&](Known& other) {
      is_gone = is_gone || other.IsGone(*slot.object);
      covering.push_back(&other);
    });
    if (is_gone) {
      gone.push_back(slot.object);
      continue;
    }
    for (Known* other : covering) {
      const ObjectPtr held = other->store->Get(slot.object->ns(), slot.object->name());
      const std::string_view now = slot.object->resource_version();
      if (held != nullptr && IsAtMost(now, held->resource_version())) {
        content.bytes.Add(*held);
        content.bytes.Subtract(*slot.object);
        slot.object = held;
      } else if (IsOrdered(now)) {
        change(*other, held, slot.object);
      }
    }
  }
  for (const ObjectPtr& object : gone) {
    content.bytes.Subtract(*object);
    content.objects.erase(object);
  }
  // Objects that only other stores have were deleted before the list, or created after it.
  std::vector<ObjectPtr> newer;
  ForEachOverlapping(self, [&](Known& other) {
    for (const ObjectPtr& held : other.store->List(self.scope.first)) {
      if (!self.Covers(*held) || content.objects.contains(held)) continue;
      if (IsAtMost(held->resource_version(), version)) {
        change(other, held, nullptr);
      } else if (IsOlder(version, held->resource_version())) {
        newer.push_back(held);
      }
    }
  });
  for (const ObjectPtr& object : newer) {
    if (!content.objects.contains(object)) content.Put(object);
  }
  return changes;
}

ReflectorTarget::Replaced KindStore::Stream::Replace(Content content, std::string resource_version,
                                                     size_t most_events) {
  known_->version = resource_version;
  if (kind_.IsAlone()) {
    return store()->Replace(std::move(content), std::move(resource_version), most_events);
  }
  const std::map<Known*, Events> changes = kind_.Merge(*known_, resource_version, content);
  std::map<Known*, std::shared_ptr<const ObjectSet>> before;
  for (const auto& [other, events] : changes) {
    if (events.size() > other->most_events) before[other] = other->store->Snapshot();
  }
  const auto change_others = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (const auto& [other, events] : changes) {
      for (const ObjectEvent& event : events) {
        if (event.type == ObjectEvent::Type::kDelete) {
          other->store->RemoveLocked(event.object);
        } else {
          other->store->PutLocked(event.object);
        }
      }
    }
  };
  Replaced replaced = store()->ReplaceWithUpdate(std::move(content), std::move(resource_version),
                                                 most_events, change_others);
  for (const auto& [other, events] : changes) {
    if (other->listener == nullptr) continue;
    if (const auto many = before.find(other); many != before.end()) {
      other->listener->OnReplaced(many->second);
    } else {
      other->listener->OnObjects(events);
    }
  }
  if (!kind_.closed_.empty()) kind_.Sweep();
  return replaced;
}

}  // namespace mandate
