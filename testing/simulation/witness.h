// Compares the events of one sink with the server's history.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "manager/cache/cache_view.h"
#include "testing/apiserver/store.h"

namespace mandate {

// It never reads one of our caches. Single-threaded.
class Witness : public DemandSink {
 public:
  // A witness of the ConfigMaps in `ns`; empty means all namespaces.
  explicit Witness(std::string ns) : ns_(std::move(ns)) {}

  void OnEvent(const ObjectEvent& event) override;
  void OnPurged(const std::vector<std::shared_ptr<const RawObject>>& objects) override;
  void OnState(const DemandStatus& status) override { status_ = status; }

  const DemandStatus& status() const { return status_; }
  size_t told() const { return told_.size(); }

  // Returns each false or lost event as a sentence. These properties always hold: every event is in
  // the history; no object goes back to an older revision, is added twice, or changes before it is
  // added; and at the end the sink has the server's objects. If `unbroken`, no list came in
  // between, so the sink must have received every change once, in the order of revisions.
  std::vector<std::string> Check(const std::vector<apiserver::Change>& history,
                                 bool unbroken) const;

 private:
  struct Told {
    ObjectEvent::Type type;
    ObjectKey key;
    std::string uid;
    int64_t revision;
    bool initial;
    bool purged = false;
  };
  using State = std::map<ObjectKey, int64_t>;  // the revision of each object

  bool InScope(const apiserver::Change& change) const {
    return ns_.empty() || change.object->ns == ns_;
  }
  std::vector<const apiserver::Change*> Scoped(const std::vector<apiserver::Change>& history) const;

  const std::string ns_;
  DemandStatus status_;
  std::vector<Told> told_;
};

}  // namespace mandate
