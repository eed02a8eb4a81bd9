// What all watches of a cache may hold, split among its components.
#ifndef MANAGER_CACHE_WATCH_BUDGET_H_
#define MANAGER_CACHE_WATCH_BUDGET_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "manager/core/metrics.h"

namespace mandate {

// A budget in bytes of encoded objects. One half is split into equal shares, one for each
// component, which nobody else can use up; the other half goes to the components that need more, in
// the order in which they need it. A watch counts for the component under whose identity it runs.
// While it lists again it counts once: with the larger one of what it holds and what has come. Loop
// thread only.
class WatchBudget {
 public:
  // Gauges: mandate_cache_budget_bytes{identity}, mandate_cache_budget_limit_bytes.
  WatchBudget(size_t max_bytes, Metrics& metrics);

  // One more component has a share.
  void AddComponent(std::string_view component);

  // What one watch holds; gives it back at its end. Outlived by the budget.
  class Account {
   public:
    Account(WatchBudget& budget, std::string_view component);
    ~Account();
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

    // Another component has it now.
    void MoveTo(std::string_view component);
    // It holds so much now. kResourceExhausted: that is more than before, and more than the
    // component may have; names the component and max_watch_bytes. It counts all the same.
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
  void Add(std::string_view component, size_t bytes);
  void Subtract(std::string_view component, size_t bytes);
  size_t Share() const;
  // What is in use of the common half.
  size_t Common() const;

  const size_t max_bytes_;
  Metrics& metrics_;
  std::map<std::string, Component, std::less<>> components_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_WATCH_BUDGET_H_
