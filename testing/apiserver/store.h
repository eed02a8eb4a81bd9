// All objects, and the history of their changes: one counter of revisions, as etcd has it.
#ifndef TESTING_APISERVER_STORE_H_
#define TESTING_APISERVER_STORE_H_

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
  // As it is now; of a deletion, as it last was, at the revision of the deletion.
  std::shared_ptr<const StoredObject> object;
  std::shared_ptr<const StoredObject> previous;  // null of kAdded
};

// Loop thread only.
class Store : public ObjectReader {
 public:
  struct Options {
    int64_t first_revision = 1;
    // Older changes are forgotten: watches from there and lists of then are expired.
    size_t max_changes = 100'000;
  };
  explicit Store(Options options) : options_(options), revision_(options.first_revision) {}

  std::shared_ptr<const StoredObject> Get(const GroupResource& resource, std::string_view ns,
                                          std::string_view name) const override;
  std::vector<std::shared_ptr<const StoredObject>> List(const GroupResource& resource,
                                                        std::string_view ns = "") const override;
  // The revision at which any object of the resource last changed; 0: never.
  int64_t LastChange(const GroupResource& resource) const;
  // Those of which there ever was an object.
  std::vector<GroupResource> Resources() const;

  int64_t revision() const { return revision_; }
  // Changes up to this revision are forgotten.
  int64_t compacted() const { return compacted_; }

  // Adds or replaces, at a new revision, which becomes the object's resourceVersion. `object` is
  // whole and has a name.
  std::shared_ptr<const StoredObject> Put(const GroupResource& resource, Json::Value object);
  // Null: there was none.
  std::shared_ptr<const StoredObject> Delete(const GroupResource& resource, std::string_view ns,
                                             std::string_view name);

  // The objects as they were at `revision`, in the order of List. Null: that is forgotten.
  using Objects = std::vector<std::shared_ptr<const StoredObject>>;
  std::unique_ptr<Objects> ListAt(const GroupResource& resource, std::string_view ns,
                                  int64_t revision) const;

  // All changes that are remembered, of all resources: the judge of what a watch must bring.
  const std::deque<Change>& changes() const { return changes_; }
  // Those of one resource after `revision`, oldest first.
  std::vector<const Change*> ChangesSince(const GroupResource& resource, int64_t revision) const;

  void Compact(int64_t revision);

  // As when etcd was away for a moment: whoever reads its changes goes on from where he was, or
  // cannot, as that is forgotten. Such listeners are called then, until they are unsubscribed.
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

#endif  // TESTING_APISERVER_STORE_H_
