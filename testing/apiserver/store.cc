#include "testing/apiserver/store.h"

#include <algorithm>

#include "manager/core/strings.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

std::string KeyOf(std::string_view ns, std::string_view name) {
  return ns.empty() ? std::string(name) : StrCat(ns, "/", name);
}

}  // namespace

std::shared_ptr<const StoredObject> Store::Get(const GroupResource& resource, std::string_view ns,
                                               std::string_view name) const {
  const auto table = tables_.find(resource);
  if (table == tables_.end()) return nullptr;
  const auto found = table->second.find(KeyOf(ns, name));
  return found == table->second.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const StoredObject>> Store::List(const GroupResource& resource,
                                                             std::string_view ns) const {
  Objects objects;
  const auto table = tables_.find(resource);
  if (table == tables_.end()) return objects;
  const std::string prefix = ns.empty() ? "" : StrCat(ns, "/");
  for (auto it = table->second.lower_bound(prefix); it != table->second.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    objects.push_back(it->second);
  }
  return objects;
}

int64_t Store::LastChange(const GroupResource& resource) const {
  const auto found = last_change_.find(resource);
  return found == last_change_.end() ? 0 : found->second;
}

std::vector<GroupResource> Store::Resources() const {
  std::vector<GroupResource> resources;
  for (const auto& [resource, table] : tables_) resources.push_back(resource);
  return resources;
}

std::shared_ptr<const StoredObject> Store::Put(const GroupResource& resource, Json::Value object) {
  std::shared_ptr<const StoredObject> stored = MakeStored(std::move(object), ++revision_);
  auto& slot = tables_[resource][KeyOf(stored->ns, stored->name)];
  Change change = {.revision = revision_,
                   .type = slot == nullptr ? Change::Type::kAdded : Change::Type::kModified,
                   .resource = resource,
                   .object = stored,
                   .previous = slot};
  slot = stored;
  Record(std::move(change));
  return stored;
}

std::shared_ptr<const StoredObject> Store::Delete(const GroupResource& resource,
                                                  std::string_view ns, std::string_view name) {
  auto& table = tables_[resource];
  const auto found = table.find(KeyOf(ns, name));
  if (found == table.end()) return nullptr;
  const std::shared_ptr<const StoredObject> previous = found->second;
  table.erase(found);
  std::shared_ptr<const StoredObject> last = MakeStored(previous->Parse(), ++revision_);
  Record({.revision = revision_,
          .type = Change::Type::kDeleted,
          .resource = resource,
          .object = last,
          .previous = previous});
  return last;
}

void Store::Record(Change change) {
  last_change_[change.resource] = change.revision;
  changes_.push_back(std::move(change));
  if (changes_.size() > options_.max_changes) Compact(changes_.front().revision);
  const Change recorded = changes_.back();
  // A listener may unsubscribe itself or others.
  const auto listeners = listeners_;
  for (const auto& entry : listeners) {
    if (entry->live && entry->resource == recorded.resource) entry->listener(recorded);
  }
  for (const Listener& listener : all_listeners_) listener(recorded);
}

std::unique_ptr<Store::Objects> Store::ListAt(const GroupResource& resource, std::string_view ns,
                                              int64_t revision) const {
  if (revision < compacted_) return nullptr;
  std::map<std::string, std::shared_ptr<const StoredObject>> then;
  for (auto& object : List(resource, ns)) then[KeyOf(object->ns, object->name)] = object;
  // Reverts the changes, newest first.
  for (auto it = changes_.rbegin(); it != changes_.rend() && it->revision > revision; ++it) {
    if (it->resource != resource || (!ns.empty() && it->object->ns != ns)) continue;
    const std::string key = KeyOf(it->object->ns, it->object->name);
    if (it->previous == nullptr) {
      then.erase(key);
    } else {
      then[key] = it->previous;
    }
  }
  auto objects = std::make_unique<Objects>();
  for (auto& [key, object] : then) objects->push_back(std::move(object));
  return objects;
}

std::vector<const Change*> Store::ChangesSince(const GroupResource& resource,
                                               int64_t revision) const {
  const auto first = std::upper_bound(
      changes_.begin(), changes_.end(), revision,
      [](int64_t wanted, const Change& change) { return wanted < change.revision; });
  std::vector<const Change*> found;
  for (auto it = first; it != changes_.end(); ++it) {
    if (it->resource == resource) found.push_back(&*it);
  }
  return found;
}

void Store::Compact(int64_t revision) {
  compacted_ = std::max(compacted_, std::min(revision, revision_));
  while (!changes_.empty() && changes_.front().revision <= compacted_) changes_.pop_front();
}

uint64_t Store::Subscribe(const GroupResource& resource, Listener listener) {
  listeners_.push_back(std::make_shared<Entry>(Entry{++next_id_, resource, std::move(listener)}));
  return next_id_;
}

uint64_t Store::OnReconnect(std::function<void()> listener) {
  reconnect_listeners_.emplace(++next_id_, std::move(listener));
  return next_id_;
}

void Store::Reconnect() {
  // A listener may unsubscribe itself or others.
  std::vector<uint64_t> ids;
  for (const auto& [id, listener] : reconnect_listeners_) ids.push_back(id);
  for (const uint64_t id : ids) {
    const auto found = reconnect_listeners_.find(id);
    if (found == reconnect_listeners_.end()) continue;
    const auto listener = found->second;
    listener();
  }
}

void Store::Unsubscribe(uint64_t id) {
  reconnect_listeners_.erase(id);
  for (const auto& entry : listeners_) {
    // Record() may be iterating over the list, or calling this listener.
    if (entry->id == id) entry->live = false;
  }
  std::erase_if(listeners_, [id](const auto& entry) { return entry->id == id; });
}

}  // namespace mandate::apiserver
