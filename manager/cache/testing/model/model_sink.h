// A DemandSink that folds its events, and checks each call against the reference model.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "manager/cache/cache_view.h"
#include "manager/cache/testing/model/object_history.h"
#include "manager/cache/testing/model/violations.h"
#include "manager/cache/testing/model/watch_scope.h"

namespace mandate::model {

// Checks I4: versions of an object only grow, and another object of the same name comes after the
// deletion of the former. I5: no state is reported twice, and each event follows from the earlier
// ones. I7: no event after a denial. Single-threaded.
class ModelSink : public DemandSink {
 public:
  struct Config {
    std::string who;  // "a foo/x", for messages
    WatchScope scope;
    const ObjectHistory& history;
    Violations& violations;
    // Whether the server's last answer to the component that the cache has processed was not a
    // denial: for this scope, or for a wider one that may serve it.
    std::function<bool()> may_see;
    // Whether the last answer for this scope was a denial.
    std::function<bool()> is_denied;
    // After each event; after a purge with null.
    std::function<void(const ObjectEvent*)> on_event;
  };

  explicit ModelSink(Config config) : config_(std::move(config)) {}

  void OnEvent(const ObjectEvent& event) override;
  void OnPurged(const std::vector<std::shared_ptr<const RawObject>>& objects) override;
  void OnState(const DemandStatus& status) override;

  // From now on no event may come, until the other call.
  void Freeze(bool frozen) { frozen_ = frozen; }
  bool frozen() const { return frozen_; }

  const Content& content() const { return content_; }
  const std::map<ObjectKey, ObjectLabels>& labels() const { return labels_; }
  const DemandStatus& status() const { return status_; }
  const WatchScope& scope() const { return config_.scope; }
  // The events of each object since the last call: " +foo/x@7 ~foo/x@8 -foo/x".
  using Events = std::map<ObjectKey, std::string>;
  Events TakeEvents() { return std::exchange(events_, {}); }
  const Events& events() const { return events_; }
  // How often its state was reported.
  int64_t reports() const { return reports_; }

 private:
  struct Last {
    int version = 0;
    std::string uid;
    bool exists = false;
    bool purged = false;
  };

  void Check(const ObjectEvent& event, const Last& last);
  template <class... Parts>
  void Violation(std::string_view invariant, const ObjectEvent& event, const Parts&... parts);

  const Config config_;
  Content content_;
  std::map<ObjectKey, ObjectLabels> labels_;
  std::map<ObjectKey, Last> last_;  // of each object that was ever told
  DemandStatus status_;
  bool synced_once_ = false;
  bool frozen_ = false;
  int64_t reports_ = 0;
  Events events_;
};

// "+foo/x@7", "~foo/x@8"; a deletion has no version: "-foo/x".
std::string EventText(ObjectEvent::Type type, const ObjectKey& key, int version);

}  // namespace mandate::model
