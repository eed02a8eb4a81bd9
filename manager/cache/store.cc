#include "manager/cache/store.h"

#include <algorithm>

#include "manager/cache/resource_version.h"

namespace mandate {
namespace {

using Type = ObjectEvent::Type;

bool SameVersion(const RawObject& a, const RawObject& b) {
  return a.uid() == b.uid() && a.resource_version() == b.resource_version();
}

ObjectEvent Added(ObjectPtr object) {
  return {.type = Type::kAdd, .object = std::move(object), .old = nullptr};
}

ObjectEvent Deleted(ObjectPtr object) {
  return {.type = Type::kDelete, .object = std::move(object), .old = nullptr};
}

void AppendChange(const ObjectPtr& old, const ObjectPtr& now, std::vector<ObjectEvent>& events) {
  if (SameVersion(*old, *now)) return;
  if (old->uid() != now->uid()) {
    events.push_back(Deleted(old));
    events.push_back(Added(now));
  } else {
    events.push_back({.type = Type::kUpdate, .object = now, .old = old});
  }
}

}  // namespace

std::vector<ObjectEvent> DiffObjects(const std::vector<ObjectPtr>& before,
                                     const std::vector<ObjectPtr>& after) {
  const ObjectLess less;
  std::vector<ObjectEvent> events;
  auto old = before.begin();
  auto now = after.begin();
  while (old != before.end() || now != after.end()) {
    if (now == after.end() || (old != before.end() && less(*old, *now))) {
      events.push_back(Deleted(*old++));
    } else if (old == before.end() || less(*now, *old)) {
      events.push_back(Added(*now++));
    } else {
      AppendChange(*old++, *now++, events);
    }
  }
  return events;
}

ObjectPtr ObjectStore::Get(std::string_view ns, std::string_view name) const {
  MutexLock lock(mutex_);
  auto it = objects_.find(ObjectLess::Key(ns, name));
  return it == objects_.end() ? nullptr : *it;
}

std::vector<ObjectPtr> ObjectStore::List(std::string_view ns) const {
  MutexLock lock(mutex_);
  if (ns.empty()) return {objects_.begin(), objects_.end()};
  std::vector<ObjectPtr> result;
  for (auto it = objects_.lower_bound(ObjectLess::Key(ns, ""));
       it != objects_.end() && (*it)->ns() == ns; ++it) {
    result.push_back(*it);
  }
  return result;
}

size_t ObjectStore::size() const {
  MutexLock lock(mutex_);
  return objects_.size();
}

size_t ObjectStore::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

std::string ObjectStore::resource_version() const {
  MutexLock lock(mutex_);
  return resource_version_;
}

bool ObjectStore::HasReached(std::string_view resource_version) const {
  const auto wanted = ParseResourceVersion(resource_version);
  MutexLock lock(mutex_);
  const auto reached = ParseResourceVersion(resource_version_);
  return wanted && reached && *reached >= *wanted;
}

std::vector<ObjectEvent> ObjectStore::Replace(std::vector<ObjectPtr> objects,
                                              std::string resource_version) {
  // Of doubles, which pages of an inconsistent list can bring, the last one counts.
  std::stable_sort(objects.begin(), objects.end(), ObjectLess());
  const ObjectLess less;
  Objects next;
  size_t bytes = 0;
  const std::vector<ObjectPtr> before = List();
  auto old = before.begin();
  for (size_t i = 0; i < objects.size(); ++i) {
    if (i + 1 < objects.size() && !less(objects[i], objects[i + 1])) continue;
    ObjectPtr& object = objects[i];
    while (old != before.end() && less(*old, object)) ++old;
    if (old != before.end() && !less(object, *old) && SameVersion(**old, *object)) object = *old;
    bytes += object->bytes().size();
    next.insert(next.end(), std::move(object));
  }
  std::vector<ObjectEvent> events = DiffObjects(before, {next.begin(), next.end()});
  MutexLock lock(mutex_);
  objects_.swap(next);
  bytes_ = bytes;
  resource_version_ = std::move(resource_version);
  return events;
}

std::vector<ObjectEvent> ObjectStore::Put(ObjectPtr object) {
  std::vector<ObjectEvent> events;
  MutexLock lock(mutex_);
  auto it = objects_.find(object);
  if (it == objects_.end()) {
    bytes_ += object->bytes().size();
    events.push_back(Added(object));
    objects_.insert(std::move(object));
    return events;
  }
  const ObjectPtr old = *it;
  // Revisions of one store: also another UID's.
  if (IsOlder(object->resource_version(), old->resource_version())) return events;
  AppendChange(old, object, events);
  if (events.empty()) return events;
  bytes_ += object->bytes().size();
  bytes_ -= old->bytes().size();
  // The key is the same; a set only lets go of the node.
  it = objects_.erase(it);
  objects_.insert(it, std::move(object));
  return events;
}

std::vector<ObjectEvent> ObjectStore::Remove(ObjectPtr object) {
  std::vector<ObjectEvent> events;
  MutexLock lock(mutex_);
  auto it = objects_.find(object);
  if (it == objects_.end()) return events;
  if (IsOlder(object->resource_version(), (*it)->resource_version())) return events;
  bytes_ -= (*it)->bytes().size();
  objects_.erase(it);
  events.push_back(Deleted(std::move(object)));
  return events;
}

void ObjectStore::SetResourceVersion(std::string resource_version) {
  MutexLock lock(mutex_);
  resource_version_ = std::move(resource_version);
}

}  // namespace mandate
