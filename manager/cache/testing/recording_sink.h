// A DemandSink that records its calls, and the calls that break the contract.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/cache_view.h"

namespace mandate {

// Single-threaded.
class RecordingSink : public DemandSink {
 public:
  void OnEvent(const ObjectEvent& event) override;
  void OnPurged(const std::vector<std::shared_ptr<const RawObject>>& objects) override;
  void OnState(const DemandStatus& status) override;
  std::set<std::string> Flows() const override { return flows_; }

  void SetFlows(std::set<std::string> flows) { flows_ = std::move(flows); }
  // Runs after each call.
  void OnCall(std::function<void()> hook) { hook_ = std::move(hook); }

  // Returns the events (as Text(ObjectEvent)) and the states (as words) since the last call, joined
  // by spaces.
  std::string Take();
  const DemandStatus& status() const { return status_; }
  // The objects after the events so far, as Text() writes them.
  std::string Content() const;
  // As sentences: purged objects that are not those of the events, adds of known objects, updates
  // and deletes of unknown ones, initial events after the first list.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  void Violation(const ObjectEvent& event, std::string_view what);

  std::map<ObjectKey, std::shared_ptr<const RawObject>> content_;
  DemandStatus status_;
  bool synced_ = false;
  std::set<std::string> flows_ = {""};
  std::string log_;
  std::vector<std::string> violations_;
  std::function<void()> hook_;
};

}  // namespace mandate
