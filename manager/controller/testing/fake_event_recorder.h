// An event recorder that keeps the events for a test.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manager/controller/event_recorder.h"
#include "manager/core/mutex.h"

namespace mandate {

// Thread-safe.
class FakeEventRecorder : public EventRecorder {
 public:
  struct Event {
    ObjectRef regarding;
    EventType type;
    std::string reason, action, note;
    // "Warning Forbidden ScopeInstance a: may not bind".
    std::string ToString() const {
      return std::string(type == EventType::kWarning ? "Warning " : "Normal ") + reason + " " +
             regarding.kind + " " + (regarding.ns.empty() ? "" : regarding.ns + "/") +
             regarding.name + ": " + note;
    }
  };

  void Record(const ObjectRef& regarding, EventType type, std::string_view reason,
              std::string_view action, std::string_view note) override {
    MutexLock lock(mutex_);
    events_.push_back(
        {regarding, type, std::string(reason), std::string(action), std::string(note)});
  }

  std::vector<Event> events() const {
    MutexLock lock(mutex_);
    return events_;
  }
  void Clear() {
    MutexLock lock(mutex_);
    events_.clear();
  }

 private:
  mutable Mutex mutex_;
  std::vector<Event> events_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
