// All objects and the history of their changes, with one counter of revisions, like etcd.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// One change. Immutable.
struct Change {
  enum class Type { kAdded, kModified, kDeleted };

  int64_t revision = 0;
  Type type = Type::kAdded;
  GroupResource resource;
  // The new state; for a deletion the last state, with the revision of the deletion.
  std::shared_ptr<const StoredObject> object;
  std::shared_ptr<const StoredObject> previous;  // null for kAdded
};

// Loop thread only.
class Store : public ObjectReader {
 public:
  struct Options {
    int64_t first_revision = 1;
    // Older changes are dropped; watches and lists from there get 410.
    size_t max_changes = 100'000;
  };
  explicit Store(Options options) : options_(options), revision_(options.first_revision) {}

  std::shared_ptr<const StoredObject> Get(const GroupResource& resource, std::string_view ns,
                                          std::string_view name) const override;
  std::vector<std::shared_ptr<const StoredObject>> List(const GroupResource& resource,
                                                        std::string_view ns = "") const override;
  // The revision of the last change of any object of the resource; 0 if there was no change.
  int64_t LastChange(const GroupResource& resource) const;
  // The resources that ever had an object.
  std::vector<GroupResource> Resources() const;

  int64_t revision() const { return revision_; }
  // Changes up to this revision have been dropped.
  int64_t compacted() const { return compacted_; }

  // Adds or replaces a complete object with a name, at a new revision, which becomes the object's
  // resourceVersion.
  std::shared_ptr<const StoredObject> Put(const GroupResource& resource, Json::Value object);
  // Null if it was absent.
  std::shared_ptr<const StoredObject> Delete(const GroupResource& resource, std::string_view ns,
                                             std::string_view name);

  // The objects at `revision`, in the order of List. Null if this revision has been dropped.
  using Objects = std::vector<std::shared_ptr<const StoredObject>>;
  std::unique_ptr<Objects> ListAt(const GroupResource& resource, std::string_view ns,
                                  int64_t revision) const;

  // All recorded changes of all resources. Tests compare the events of watches with them.
  const std::deque<Change>& changes() const { return changes_; }
  // The changes of one resource after `revision`, oldest first.
  std::vector<const Change*> ChangesSince(const GroupResource& resource, int64_t revision) const;

  void Compact(int64_t revision);

  // Simulates a lost connection to etcd: calls the listeners of OnReconnect(), which then continue
  // from their last revision or, if it has been dropped, end. A listener stays until Unsubscribe().
  void Reconnect();
  uint64_t OnReconnect(std::function<void()> listener);

  // Calls `listener` for every change of the resource, inside Put and Delete, until its id is
  // unsubscribed. It must not write.
  using Listener = std::function<void(const Change&)>;
  uint64_t Subscribe(const GroupResource& resource, Listener listener);
  void SubscribeAll(Listener listener) { all_listeners_.push_back(std::move(listener)); }
  void Unsubscribe(uint64_t id);

 private:
  // In the order of etcd's keys: "namespace/name", "name".
  using Table = std::map<std::string, std::shared_ptr<const StoredObject>, std::less<>>;
  struct Entry {
    uint64_t id;
    GroupResource resource;
    Listener listener;
    bool live = true;
  };

  void Record(Change change);

  const Options options_;
  int64_t revision_;
  int64_t compacted_ = 0;
  std::map<GroupResource, Table> tables_;
  std::map<GroupResource, int64_t> last_change_;
  std::deque<Change> changes_;
  std::vector<std::shared_ptr<Entry>> listeners_;
  std::vector<Listener> all_listeners_;
  std::map<uint64_t, std::function<void()>> reconnect_listeners_;
  uint64_t next_id_ = 0;
};

}  // namespace mandate::apiserver
