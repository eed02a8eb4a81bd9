// A WatchBudget of 1,000 bytes for five components.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "manager/cache/watch_budget.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {

class WatchBudgetTest : public ::testing::Test {
 protected:
  // 1000 bytes for a, b, c, d and e: each has a share of 100, and 500 are common.
  WatchBudgetTest() {
    for (const char* name : {"a", "b", "c", "d", "e"}) budget_.AddComponent(name);
  }
  double Held(const std::string& component) {
    return metrics_.Gauge("mandate_cache_budget_used_bytes", "", {{"identity", component}}).Value();
  }

  Metrics metrics_;
  SimulatedClock clock_;
  WatchBudget budget_{
      {.max_bytes = 1000, .max_watches = 5, .bytes_per_watch = 40}, clock_, metrics_};
};

// The watches that the tenants of one component demand.
class TenantsBudgetTest : public WatchBudgetTest {
 protected:
  struct Watch {
    Watch(WatchBudget& budget, std::set<std::string> of)
        : tenants(std::move(of)),
          account(budget, "a",
                  {.tenants = [this] { return tenants; },
                   .evict = [this](const absl::Status& status) { why = status; }}) {}

    std::set<std::string> tenants;
    absl::Status why;  // of its eviction
    WatchBudget::Account account;
  };

  Watch one_{budget_, {"one"}};
  Watch other_{budget_, {"other"}};
};

}  // namespace mandate
