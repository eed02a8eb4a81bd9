#include "manager/cache/store.h"

#include <algorithm>
#include <iterator>

#include "manager/cache/resource_version.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using Type = ObjectEvent::Type;
using Unreadable = std::map<ObjectKey, UnreadableObject>;

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

absl::Status CannotRead(const UnreadableObject& object) {
  return absl::DataLossError(StrCat(
      object.Name(), " is there and cannot be read, until it is mended: ", object.why.message()));
}

// Of `before`, what is not in `listed` and not absent for all that: unreadable, or perhaps so. The
// latter are added to `unreadable`.
std::vector<ObjectPtr> NotProvenAbsent(const std::vector<ObjectPtr>& before,
                                       const std::vector<ObjectPtr>& listed,
                                       const absl::Status& unidentified, Unreadable& unreadable) {
  std::vector<ObjectPtr> result;
  for (const ObjectPtr& old : before) {
    if (std::binary_search(listed.begin(), listed.end(), old, ObjectLess())) continue;
    const auto [it, certain_not] = unreadable.try_emplace(old->Key());
    if (!certain_not || !unidentified.ok()) {
      if (certain_not) {
        it->second = {.why = absl::DataLossError(
                          StrCat("the last list does not have it, but it has an object "
                                 "of which nobody can tell which one it is: ",
                                 unidentified.message())),
                      .key = it->first,
                      .resource_version = ""};
      }
      result.push_back(old);
    } else {
      unreadable.erase(it);
    }
  }
  return result;
}

}  // namespace

std::vector<ObjectEvent> DiffObjects(const std::vector<ObjectPtr>& before,
                                     const std::vector<ObjectPtr>& after) {
  const ObjectLess less;
  std::vector<ObjectEvent> events;
  if (before.empty()) events.reserve(after.size());
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

absl::StatusOr<ObjectPtr> ObjectStore::Read(std::string_view ns, std::string_view name) const {
  MutexLock lock(mutex_);
  if (!unreadable_.empty()) {
    const auto mark = unreadable_.find({std::string(ns), std::string(name)});
    if (mark != unreadable_.end()) return CannotRead(mark->second);
  }
  const auto it = objects_.find(ObjectLess::Key(ns, name));
  if (it != objects_.end()) return it->object;
  if (!unidentified_.ok())
    return CannotRead({.why = unidentified_, .key = {}, .resource_version = ""});
  return nullptr;
}

absl::Status ObjectStore::Readable(std::string_view ns) const {
  for (const auto& [key, object] : unreadable_) {
    if (ns.empty() || key.ns == ns) return CannotRead(object);
  }
  if (unidentified_.ok()) return absl::OkStatus();
  return CannotRead({.why = unidentified_, .key = {}, .resource_version = ""});
}

absl::Status ObjectStore::WhyUnreadable() const {
  MutexLock lock(mutex_);
  return Readable("");
}

absl::StatusOr<std::vector<ObjectPtr>> ObjectStore::ReadAll(std::string_view ns) const {
  {
    MutexLock lock(mutex_);
    if (absl::Status status = Readable(ns); !status.ok()) return status;
  }
  return List(ns);
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

size_t ObjectStore::size() const {
  MutexLock lock(mutex_);
  return objects_.size();
}

size_t ObjectStore::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

size_t ObjectStore::unreadable() const {
  MutexLock lock(mutex_);
  return unreadable_.size() + (unidentified_.ok() ? 0 : 1);
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
                                              std::string resource_version,
                                              std::vector<UnreadableObject> unreadable) {
  const ObjectLess less;
  // Of doubles, which pages of an inconsistent list can bring, the last one counts.
  if (!std::is_sorted(objects.begin(), objects.end(), less)) {
    std::stable_sort(objects.begin(), objects.end(), less);
  }
  // Sorted backwards, those that are not less than the one before are doubles of it.
  const auto kept = std::unique(objects.rbegin(), objects.rend(),
                                [&](const auto& a, const auto& b) { return !less(b, a); });
  objects.erase(objects.begin(), kept.base());

  const std::vector<ObjectPtr> before = List();
  Unreadable marks;
  absl::Status unidentified;
  for (UnreadableObject& object : unreadable) {
    if (!object.identified()) {
      unidentified.Update(object.why);
      continue;
    }
    ObjectKey key = object.key;
    marks.insert_or_assign(std::move(key), std::move(object));
  }
  if (!unreadable.empty()) {
    const auto kept = NotProvenAbsent(before, objects, unidentified, marks);
    objects.insert(objects.end(), kept.begin(), kept.end());
    std::sort(objects.begin(), objects.end(), less);
  }
  std::vector<ObjectEvent> events = DiffObjects(before, objects);
  size_t bytes = 0;
  auto old = before.begin();
  for (ObjectPtr& object : objects) {
    while (old != before.end() && less(*old, object)) ++old;
    if (old != before.end() && !less(object, *old) && SameVersion(**old, *object)) object = *old;
    bytes += object->bytes().size();
  }
  ObjectSet next;
  for (ObjectPtr& object : objects) next.insert(next.end(), std::move(object));
  MutexLock lock(mutex_);
  Note(events);
  objects_.swap(next);
  bytes_ = bytes;
  unreadable_ = std::move(marks);
  unidentified_ = std::move(unidentified);
  resource_version_ = std::move(resource_version);
  return events;
}

ObjectSet::iterator ObjectStore::Find(const ObjectPtr& object) {
  // Initial states come in order.
  const auto end = objects_.end();
  if (objects_.empty() || ObjectLess()(*std::prev(end), object)) return end;
  return objects_.lower_bound(object);
}

bool ObjectStore::Settle(std::string_view ns, std::string_view name,
                         std::string_view resource_version) {
  if (unreadable_.empty()) return true;
  const auto mark = unreadable_.find({std::string(ns), std::string(name)});
  if (mark == unreadable_.end()) return true;
  if (IsOlder(resource_version, mark->second.resource_version)) return false;
  unreadable_.erase(mark);
  return true;
}

std::vector<ObjectEvent> ObjectStore::Put(ObjectPtr object) {
  std::vector<ObjectEvent> events;
  MutexLock lock(mutex_);
  if (!Settle(object->ns(), object->name(), object->resource_version())) return events;
  const auto it = Find(object);
  if (it == objects_.end() || ObjectLess()(object, *it)) {
    bytes_ += object->bytes().size();
    events.push_back(Added(object));
    Note(events);
    objects_.insert(it, std::move(object));
    return events;
  }
  // Revisions of one store: also another UID's.
  if (IsOlder(object->resource_version(), it->object->resource_version())) return events;
  AppendChange(it->object, object, events);
  if (events.empty()) return events;
  Note(events);
  bytes_ += object->bytes().size();
  bytes_ -= it->object->bytes().size();
  it->object = std::move(object);
  return events;
}

std::vector<ObjectEvent> ObjectStore::Remove(ObjectPtr object) {
  std::vector<ObjectEvent> events;
  MutexLock lock(mutex_);
  if (!Settle(object->ns(), object->name(), object->resource_version())) return events;
  const auto it = Find(object);
  if (it == objects_.end() || ObjectLess()(object, *it)) return events;
  if (IsOlder(object->resource_version(), it->object->resource_version())) return events;
  bytes_ -= it->object->bytes().size();
  Note({Deleted(it->object)});
  objects_.erase(it);
  events.push_back(Deleted(std::move(object)));
  return events;
}

void ObjectStore::PutUnreadable(UnreadableObject object) {
  MutexLock lock(mutex_);
  if (!object.identified()) return unidentified_.Update(object.why);
  const auto it = objects_.find(ObjectLess::Key(object.key.ns, object.key.name));
  if (it != objects_.end() && IsOlder(object.resource_version, it->object->resource_version())) {
    return;
  }
  UnreadableObject& mark = unreadable_[object.key];
  if (!IsOlder(object.resource_version, mark.resource_version)) mark = std::move(object);
}

std::vector<ObjectEvent> ObjectStore::RemoveUnreadable(const UnreadableObject& object) {
  std::vector<ObjectEvent> events;
  MutexLock lock(mutex_);
  if (!object.identified()) {
    unidentified_.Update(object.why);
    return events;
  }
  if (!Settle(object.key.ns, object.key.name, object.resource_version)) return events;
  const auto it = objects_.find(ObjectLess::Key(object.key.ns, object.key.name));
  if (it == objects_.end()) return events;
  if (IsOlder(object.resource_version, it->object->resource_version())) return events;
  bytes_ -= it->object->bytes().size();
  events.push_back(Deleted(it->object));
  Note(events);
  objects_.erase(it);
  return events;
}

ObjectStore::Content ObjectStore::Release() {
  MutexLock lock(mutex_);
  Content content;
  content.objects.reserve(objects_.size());
  for (const ObjectSlot& slot : objects_) content.objects.push_back(std::move(slot.object));
  for (auto& [key, object] : unreadable_) content.unreadable.push_back(std::move(object));
  if (!unidentified_.ok()) {
    content.unreadable.push_back({.why = unidentified_, .key = {}, .resource_version = ""});
  }
  indexes_.clear();
  objects_.clear();
  unreadable_.clear();
  unidentified_ = absl::OkStatus();
  bytes_ = 0;
  return content;
}

void ObjectStore::SetResourceVersion(std::string resource_version) {
  MutexLock lock(mutex_);
  resource_version_ = std::move(resource_version);
}

}  // namespace mandate
