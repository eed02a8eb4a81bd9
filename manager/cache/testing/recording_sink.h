// A DemandSink that keeps what it is told, and notices what it should not have been told.
#ifndef MANAGER_CACHE_TESTING_RECORDING_SINK_H_
#define MANAGER_CACHE_TESTING_RECORDING_SINK_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "manager/cache/cache_view.h"

namespace mandate {

// Single-threaded.
class RecordingSink : public DemandSink {
 public:
  void OnEvent(const ObjectEvent& event) override;
  void OnState(const DemandStatus& status) override;

  // Runs after each call.
  void OnCall(std::function<void()> hook) { hook_ = std::move(hook); }

  // Of Text(ObjectEvent), and states as words, by spaces; forgets them.
  std::string Take();
  const DemandStatus& status() const { return status_; }
  // What there is by the events so far, as Text() has it.
  std::string Content() const;
  // Adds of what was there, updates and deletes of what was not, initial events after the first
  // list: each as a sentence.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  void Violation(const ObjectEvent& event, std::string_view what);

  std::map<ObjectKey, std::shared_ptr<const RawObject>> content_;
  DemandStatus status_;
  bool synced_ = false;
  std::string log_;
  std::vector<std::string> violations_;
  std::function<void()> hook_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_TESTING_RECORDING_SINK_H_
