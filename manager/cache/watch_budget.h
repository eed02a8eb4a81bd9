// The memory budget of all watches of a cache, split among its components.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/core/metrics.h"

namespace mandate {

// A budget in bytes of stored objects. One half is split into equal shares, one for each
// component, which no other component can use; the other half goes to the components that need
// more, first come, first served. A watch counts for the component under whose identity it runs.
// While it lists again it counts once, with the larger one of its content and the new list.
//
// When a component is over its limit, a watch must end. This is not always the one that grows: the
// objects of one tenant could otherwise stop the watches of all. Watches that tenants demand
// (DemandSink::Flows()) end before those that a component declares. They may be watches of another
// component that uses more than its share, and no less than this one: a component whose declared
// watches have grown ends nobody's but its own. A tenant's use is the bytes of all watches that it
// demands. If one of them had to end, the use at that time still counts for a while, because a
// watch that begins again is small at first. The rank of a watch is the smallest use among the
// tenants that demand it. The watch with the highest rank ends; of several, the largest.
//
// Loop thread only.
class WatchBudget {
  struct Component;

 public:
  // How long a tenant's use is remembered after one of its watches had to end, and of how many
  // tenants; beyond this number the smallest use is forgotten.
  static constexpr absl::Duration kRemembered = absl::Minutes(10);
  static constexpr size_t kMostRemembered = 1000;
  // The part of the budget that is free after watches had to end.
  static constexpr size_t kRoomPart = 100;

  // Gauges: mandate_cache_budget_used_bytes{identity}, mandate_cache_budget_limit_bytes. `clock`
  // outlives this.
  WatchBudget(size_t max_bytes, const Clock& clock, Metrics& metrics);

  // Adds a component's share.
  void AddComponent(std::string_view component);

  // What concerns a watch that only tenants demand.
  struct Demanded {
    // The tenants; "": the component itself, which makes it a declared watch.
    std::function<std::set<std::string>()> tenants;
    // The watch must end soon, for this reason (kResourceExhausted). Must not call the budget.
    std::function<void(const absl::Status&)> evict;
  };

  // The bytes of one watch, which its destructor returns. The budget outlives it.
  class Account {
   public:
    // A watch that the component declares.
    Account(WatchBudget& budget, std::string_view component);
    Account(WatchBudget& budget, std::string_view component, Demanded demanded);
    ~Account();
    Account(const Account&) = delete;
    Account& operator=(const Account&) = delete;

    // Moves the watch to another component.
    void MoveTo(std::string_view component);
    // Sets the bytes of the watch's objects, in every case. If the value has grown and the
    // component is over its limit, other watches are evicted. If this one must end, returns
    // kResourceExhausted, naming the component and max_watch_bytes. The bytes of a demanded watch
    // that must end no longer count, until they are 0, the watch is moved, or Renew() is called.
    absl::Status Set(size_t bytes);
    // The same for the bytes that have arrived and wait to be read.
    absl::Status SetQueued(size_t bytes);

    // Whether its bytes have room among those of another component.
    bool FitsIn(std::string_view component) const;
    // Whether the watch was evicted, or a call returned an error, since Renew().
    bool exceeded() const { return exceeded_; }
    // A new attempt begins.
    void Renew();
    // Whether only tenants demand the watch.
    bool IsDemanded() const;

   private:
    friend class WatchBudget;
    absl::Status SetPart(size_t& part, size_t bytes);
    size_t bytes() const { return stored_ + queued_; }
    size_t counted() const { return evicted_ ? 0 : bytes(); }

    WatchBudget& budget_;
    Component* component_;
    const std::optional<Demanded> demanded_;
    size_t stored_ = 0;
    size_t queued_ = 0;
    bool evicted_ = false;  // only of a demanded watch
    bool exceeded_ = false;
  };

 private:
  struct Component {
    std::string name;
    size_t bytes = 0;
    prometheus::Gauge* gauge = nullptr;
    std::set<Account*> accounts;
  };

  struct Remembered {
    size_t bytes;
    absl::Time until;
  };
  // By tenant.
  using Uses = std::map<std::string, size_t>;

  // Evicts watches until the component of `grown` is within its limit, or `grown` must end.
  absl::Status Admit(Account& grown);
  // `after` bytes instead of `before`.
  static void Change(Component& component, size_t before, size_t after);
  // Whether the component is over its limit, with `room` bytes fewer in the common half.
  bool IsOver(const Component& component, size_t room = 0) const;
  Component& Find(std::string_view component);
  // A demanded watch that may have to end, so that another one can grow.
  struct Candidate {
    Account* account;
    std::set<std::string> tenants;
    size_t rank;
  };
  // Those that may end so that a watch of this component can grow, with the first one first. Their
  // tenants' uses are in `uses`.
  std::vector<Candidate> Rank(const Component& grown, Uses& uses);
  bool MayEndFor(const Component& grown, const Component& component) const;
  void Remember(const std::set<std::string>& tenants, const Uses& uses);
  size_t Share() const;
  // The used bytes of the half that all components share.
  size_t Common() const;

  const size_t max_bytes_;
  Metrics& metrics_;
  const Clock& clock_;
  std::map<std::string, Component, std::less<>> components_;
  std::map<std::string, Remembered> remembered_;  // by tenant
};

}  // namespace mandate
