// The memory budget of all watches of a cache, split among its components.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "manager/core/metrics.h"

namespace mandate {

// A budget in bytes of stored objects. One half is split into equal shares, one for each
// component, which no other component can use; the other half goes to the components that need
// more, first come, first served. A watch counts for the component under whose identity it runs.
// While it lists again it counts once, with the larger one of its content and the new list. Loop
// thread only.
class WatchBudget {
 public:
  // Gauges: mandate_cache_budget_used_bytes{identity}, mandate_cache_budget_limit_bytes.
  WatchBudget(size_t max_bytes, Metrics& metrics);

  // Adds a component's share.
  void AddComponent(std::string_view component);

  // The bytes of one watch, which its destructor returns. The budget outlives it.
  class Account {
   public:
    Account(WatchBudget& budget, std::string_view component);
    ~Account();
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

    // Moves the watch to another component.
    void MoveTo(std::string_view component);
    // Sets the bytes of the watch, in every case. Returns kResourceExhausted, naming the component
    // and max_watch_bytes, if the value has grown and the component is now over its limit.
    absl::Status Set(size_t bytes);

   private:
    WatchBudget& budget_;
    std::string component_;
    size_t bytes_ = 0;
  };

 private:
  struct Component {
    size_t bytes = 0;
    prometheus::Gauge* gauge = nullptr;
  };

  Component& Find(std::string_view component);
  // `after` bytes instead of `before`.
  void Change(std::string_view component, size_t before, size_t after);
  size_t Share() const;
  // The used bytes of the half that all components share.
  size_t Common() const;

  const size_t max_bytes_;
  Metrics& metrics_;
  std::map<std::string, Component, std::less<>> components_;
};

}  // namespace mandate
