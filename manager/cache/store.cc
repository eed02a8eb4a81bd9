#include "manager/cache/store.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using Type = ObjectEvent::Type;

ObjectEvent Added(ObjectPtr object) {
  return {.type = Type::kAdd, .object = std::move(object), .old = nullptr};
}

ObjectEvent Deleted(ObjectPtr object) {
  return {.type = Type::kDelete, .object = std::move(object), .old = nullptr};
}

constexpr size_t kExtractedAtOnce = 256;

absl::StatusOr<std::vector<std::string>> Extract(const IndexDefinition& definition,
                                                 const RawObject& object) {
  std::string what = "an exception of unknown type";
  try {
    return definition.extract(object);
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  return absl::InternalError(StrCat("the function of index ", definition.field, " threw: ", what));
}

}  // namespace

bool SameVersion(const RawObject& a, const RawObject& b) {
  return a.uid() == b.uid() && a.resource_version() == b.resource_version();
}

void AppendChange(const ObjectPtr& old, const ObjectPtr& now, std::vector<ObjectEvent>& events) {
  if (old == nullptr) {
    events.push_back(Added(now));
  } else if (now == nullptr) {
    events.push_back(Deleted(old));
  } else if (old->uid() != now->uid()) {
    events.push_back(Deleted(old));
    events.push_back(Added(now));
  } else if (!SameVersion(*old, *now)) {
    events.push_back({.type = Type::kUpdate, .object = now, .old = old});
  }
}

ObjectPtr ObjectStore::Get(std::string_view ns, std::string_view name) const {
  MutexLock lock(mutex_);
  auto it = objects_.find(ObjectLess::Key(ns, name));
  return it == objects_.end() ? nullptr : it->object;
}

std::vector<ObjectPtr> ObjectStore::List(std::string_view ns) const {
  MutexLock lock(mutex_);
  std::vector<ObjectPtr> result;
  if (ns.empty()) result.reserve(objects_.size());
  for (auto it = objects_.lower_bound(ObjectLess::Key(ns, ""));
       it != objects_.end() && (ns.empty() || it->object->ns() == ns); ++it) {
    result.push_back(it->object);
  }
  return result;
}

std::vector<ObjectPtr> ObjectStore::ListAfter(const ObjectPtr& object, size_t most) const {
  std::vector<ObjectPtr> result;
  result.reserve(most);
  MutexLock lock(mutex_);
  auto it = object == nullptr ? objects_.begin() : objects_.upper_bound(object);
  for (; it != objects_.end() && result.size() < most; ++it) result.push_back(it->object);
  return result;
}

std::shared_ptr<const ObjectSet> ObjectStore::Snapshot() const {
  MutexLock lock(mutex_);
  return std::make_shared<const ObjectSet>(objects_);
}

size_t ObjectStore::size() const {
  MutexLock lock(mutex_);
  return objects_.size();
}

ObjectBytes ObjectStore::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

std::string ObjectStore::resource_version() const {
  MutexLock lock(mutex_);
  return VersionLocked();
}

void ObjectStore::FollowVersionOf(std::shared_ptr<const ObjectStore> other) {
  MutexLock lock(mutex_);
  followed_ = std::move(other);
}

bool ObjectStore::HasReached(std::string_view resource_version) const {
  const auto wanted = ParseResourceVersion(resource_version);
  MutexLock lock(mutex_);
  const auto reached = ParseResourceVersion(VersionLocked());
  return wanted && reached && *reached >= *wanted;
}

ObjectStore::Replaced ObjectStore::Replace(Content content, std::string resource_version,
                                           size_t most_events) {
  return ReplaceWithUpdate(std::move(content), std::move(resource_version), most_events, true,
                           [] {});
}

ObjectStore::Replaced ObjectStore::ReplaceWithUpdate(Content content, std::string resource_version,
                                                     size_t most_events, bool copies,
                                                     absl::FunctionRef<void()> update) {
  const ObjectLess less;
  const ObjectSet& before = OwnObjects();
  const bool is_first = before.empty();
  Replaced replaced;
  auto old = before.begin();
  auto now = content.objects.begin();
  if (is_first && content.objects.size() > most_events) now = content.objects.end();
  while (old != before.end() || now != content.objects.end()) {
    if (now == content.objects.end() || (old != before.end() && less(*old, *now))) {
      AppendChange((old++)->object, nullptr, replaced.events);
    } else if (old == before.end() || less(*now, *old)) {
      AppendChange(nullptr, (now++)->object, replaced.events);
    } else {
      if (copies && SameVersion(*old->object, *now->object)) {
        content.bytes.Add(*old->object);
        content.bytes.Subtract(*now->object);
        now->object = old->object;
      }
      AppendChange((old++)->object, (now++)->object, replaced.events);
    }
  }
  const bool many =
      is_first ? content.objects.size() > most_events : replaced.events.size() > most_events;
  // Then it is cheaper to build an index again than to update it.
  const bool reindex = is_first || replaced.events.size() > before.size() / 2;
  std::vector<FieldIndex> former;  // destroyed without the lock
  {
    MutexLock lock(mutex_);
    if (reindex) {
      for (auto& [address, index] : indexes_) {
        former.push_back(std::exchange(index.values, FieldIndex()));
      }
    } else {
      Note(replaced.events);
    }
    objects_.swap(content.objects);
    bytes_ = content.bytes;
    resource_version_ = std::move(resource_version);
    update();
  }
  if (many) {
    replaced.events.clear();
    replaced.before = std::make_shared<const ObjectSet>(std::move(content.objects));
  }
  return replaced;
}

ObjectSet::iterator ObjectStore::Find(const ObjectPtr& object) {
  // Initial states are in order.
  const auto end = objects_.end();
  if (objects_.empty() || ObjectLess()(*std::prev(end), object)) return end;
  return objects_.lower_bound(object);
}

std::vector<ObjectEvent> ObjectStore::Put(ObjectPtr object) {
  MutexLock lock(mutex_);
  return PutLocked(std::move(object));
}

std::vector<ObjectEvent> ObjectStore::Remove(ObjectPtr object) {
  MutexLock lock(mutex_);
  return RemoveLocked(std::move(object));
}

std::vector<ObjectEvent> ObjectStore::PutLocked(ObjectPtr object) {
  std::vector<ObjectEvent> events;
  const auto it = Find(object);
  if (it == objects_.end() || ObjectLess()(object, *it)) {
    bytes_.Add(*object);
    events.push_back(Added(object));
    Note(events);
    objects_.insert(it, std::move(object));
    return events;
  }
  // Revisions of one store can be compared, also those of another UID.
  if (IsOlder(object->resource_version(), it->object->resource_version())) return events;
  AppendChange(it->object, object, events);
  if (events.empty()) return events;
  Note(events);
  bytes_.Add(*object);
  bytes_.Subtract(*it->object);
  it->object = std::move(object);
  return events;
}

std::vector<ObjectEvent> ObjectStore::RemoveLocked(ObjectPtr object) {
  std::vector<ObjectEvent> events;
  const auto it = Find(object);
  if (it == objects_.end() || ObjectLess()(object, *it)) return events;
  if (IsOlder(object->resource_version(), it->object->resource_version())) return events;
  bytes_.Subtract(*it->object);
  Note({Deleted(it->object)});
  objects_.erase(it);
  events.push_back(Deleted(std::move(object)));
  return events;
}

void ObjectStore::SwapLocked(const ObjectPtr& held, const ObjectPtr& copy) {
  const auto it = objects_.find(held);
  if (it == objects_.end() || it->object != held) return;
  bytes_.Add(*copy);
  bytes_.Subtract(*held);
  for (auto& [address, index] : indexes_) index.values.Swap(held, copy);
  it->object = copy;
}

ObjectStore::Content ObjectStore::Release() {
  MutexLock lock(mutex_);
  Content content;
  content.objects.swap(objects_);
  content.bytes = bytes_;
  indexes_.clear();
  bytes_ = {};
  return content;
}

void ObjectStore::SetResourceVersion(std::string resource_version) {
  MutexLock lock(mutex_);
  resource_version_ = std::move(resource_version);
}

void ObjectStore::AddIndex(std::shared_ptr<const IndexDefinition> definition) {
  MutexLock lock(mutex_);
  const IndexDefinition* const address = definition.get();
  indexes_.try_emplace(address, Index{std::move(definition), FieldIndex()});
}

void ObjectStore::RemoveIndex(const IndexDefinition& definition) {
  MutexLock lock(mutex_);
  indexes_.erase(&definition);
}

void ObjectStore::Note(const std::vector<ObjectEvent>& changes) {
  for (auto& [address, index] : indexes_) {
    for (const ObjectEvent& change : changes) {
      if (change.type == ObjectEvent::Type::kDelete) {
        index.values.Remove(change.object);
        continue;
      }
      if (change.type == ObjectEvent::Type::kUpdate) index.values.Remove(change.old);
      index.values.Put(change.object);
    }
  }
}

absl::StatusOr<std::vector<ObjectPtr>> ObjectStore::ReadBy(const IndexDefinition& definition,
                                                           std::string_view value,
                                                           std::string_view ns) const {
  for (;;) {
    std::vector<ObjectPtr> unread;
    {
      MutexLock lock(mutex_);
      const auto found = indexes_.find(&definition);
      if (found == indexes_.end()) return absl::UnavailableError("the watch has been closed");
      FieldIndex& index = found->second.values;
      unread = index.TakeUnread(objects_, kExtractedAtOnce);
      if (unread.empty()) return index.Find(value, ns);
    }
    std::vector<absl::StatusOr<std::vector<std::string>>> values;
    values.reserve(unread.size());
    for (const ObjectPtr& object : unread) values.push_back(Extract(definition, *object));
    MutexLock lock(mutex_);
    const auto found = indexes_.find(&definition);
    if (found == indexes_.end()) continue;
    for (size_t i = 0; i < unread.size(); ++i) {
      found->second.values.Learn(unread[i], std::move(values[i]));
    }
  }
}

std::vector<ObjectPtr> ObjectStore::ListByIndex(const IndexDefinition& definition,
                                                std::string_view value, std::string_view ns) const {
  auto found = ReadBy(definition, value, ns);
  return found.ok() ? *std::move(found) : std::vector<ObjectPtr>();
}

}  // namespace mandate
