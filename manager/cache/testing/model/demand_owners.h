// The owners of one component, and the events that a DemandTable routes to each of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "manager/cache/demand_table.h"
#include "manager/cache/testing/model/model_sink.h"
#include "manager/cache/testing/model/violations.h"

namespace mandate::model {

// Keeps one demand of the view for each stream of the table, as a DemandSet does, and passes each
// event to the owners that the table finds. Checks that every owner knows exactly the objects that
// its selectors match (I5), and that the table has the last committed demands (I9).
class DemandOwners {
 public:
  // One demand of the component's view. Its destruction ends it.
  struct Open {
    std::shared_ptr<ModelSink> sink;
    std::unique_ptr<DemandHandle> handle;
  };
  // Opens a demand. The function gets the sink's events (null: purged).
  using OnEvent = std::function<void(const ObjectEvent*)>;
  using OpenDemand = std::function<std::unique_ptr<Open>(const WatchScope&, OnEvent)>;
  using CloseDemand = std::function<void(std::unique_ptr<Open>)>;

  struct Config {
    std::string component;
    Violations& violations;
    OpenDemand open;
    CloseDemand close;
  };
  explicit DemandOwners(Config config) : config_(std::move(config)) {}

  // The scopes may have selectors.
  void Replace(const std::string& name, const std::string& uid, std::vector<WatchScope> demands);
  void Release(const std::string& name);
  void ReleaseAll();
  // The committed demands of all owners, without selectors.
  std::vector<WatchScope> Streams() const;
  const std::map<WatchScope, std::unique_ptr<Open>>& open() const { return open_; }
  void Check() const;
  int64_t notified() const { return notified_; }

 private:
  struct Owner {
    std::string uid;
    std::vector<WatchScope> demands;
    std::map<WatchScope, Content> told;  // by the stream
  };

  static DemandOwner NameOf(const std::string& name, const std::string& uid) {
    return {{"owners", name}, uid};
  }
  static bool Wants(const Owner& owner, const WatchScope& stream, const ObjectLabels& labels);
  // What the owner should know.
  Content Selected(const Owner& owner, const WatchScope& stream) const;
  void Apply(DemandTable::Change change);
  void Route(const WatchScope& stream, const ObjectEvent* event);

  const Config config_;
  DemandTable table_;
  std::map<std::string, Owner> owners_;
  std::map<WatchScope, std::unique_ptr<Open>> open_;
  int64_t notified_ = 0;
};

}  // namespace mandate::model
