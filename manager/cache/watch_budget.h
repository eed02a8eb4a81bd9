// The budget of all watches of a cache, in bytes and in numbers, split among its components.
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

// A budget in bytes of stored objects and of open watches. One half is split into equal shares, one
// for each component, which no other component can use; the other half goes to the components that
// need more, first come, first served. A watch counts for the component under whose identity it
// runs. While it lists again it counts once, with the larger one of its content and the new list.
//
// When a component is over its limit, a watch must end. This is not always the one that grows: the
// objects of one tenant could otherwise stop the watches of all. Watches that tenants demand
// (DemandSink::Flows()) end before those that a component declares. They may be watches of another
// component that uses more than its share, and no less than this one: a component whose declared
// watches have grown ends nobody's but its own. A tenant's use is the bytes of all watches that it
// demands. If one of them had to end, the use at that time still counts for a while, because a
// watch that begins again is small at first; half of it after kRemembered, and so on. The rank of a
// watch is the smallest use among the tenants that demand it. The watch with the highest rank ends;
// of several, the largest.
//
// A component also has at most `max_watches` open watches. When it opens one more, the same rule
// says which one ends, but a tenant's use is the number of its open watches.
//
// Loop thread only.
class WatchBudget {
  struct Component;

 public:
  struct Options {
    size_t max_bytes;
    size_t max_watches;  // that each component may have open
    // What an open watch holds besides its objects.
    size_t bytes_per_watch;
  };
  // The time after which half of a tenant's use is remembered, since one of its watches had to end,
  // and of how many tenants; beyond this number the smallest use is forgotten.
  static constexpr absl::Duration kRemembered = absl::Minutes(10);
  static constexpr size_t kMostRemembered = 1000;
  // The part of the budget that is free after watches had to end.
  static constexpr size_t kRoomPart = 100;
  // How long a tenant whose watch had to end opens no other one without room: it would end another
  // one, often its own.
  static constexpr absl::Duration kCrowded = absl::Minutes(1);

  // Gauges: mandate_cache_budget_used_bytes{identity}, mandate_cache_budget_limit_bytes,
  // mandate_cache_budget_used_watches{identity}, mandate_cache_budget_limit_watches. `clock`
  // outlives this.
  WatchBudget(const Options& options, const Clock& clock, Metrics& metrics);

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
    // The watch is to be opened: it counts until Close(). If the component has too many, or is over
    // its limit in bytes, others are evicted. If this one must end, it does not count, and the
    // result is kResourceExhausted; a declared one only ends because of max_watches.
    absl::Status Open();
    void Close();

    // Whether it has room among the watches of another component.
    bool FitsIn(std::string_view component) const;
    // Whether the watch was evicted, or a call returned an error, since Renew().
    bool exceeded() const { return exceeded_; }
    // A new attempt begins.
    void Renew();
    // Whether only tenants demand the watch.
    bool IsDemanded() const;

   private:
    friend class WatchBudget;
    struct State {
      size_t stored = 0;
      size_t queued = 0;
      bool is_open = false;
      bool operator==(const State&) const = default;
    };
    absl::Status SetState(const State& state);
    size_t bytes() const;
    size_t counted_bytes() const { return evicted_ ? 0 : bytes(); }
    size_t counted_watches() const { return state_.is_open && !evicted_ ? 1 : 0; }
    // It is to end.
    void End();

    WatchBudget& budget_;
    Component* component_;
    const std::optional<Demanded> demanded_;
    State state_;
    bool evicted_ = false;  // only of a demanded watch
    bool exceeded_ = false;
  };

 private:
  struct Component {
    std::string name;
    size_t bytes = 0;
    size_t watches = 0;  // open
    prometheus::Gauge* bytes_gauge = nullptr;
    prometheus::Gauge* watches_gauge = nullptr;
    std::set<Account*> accounts;
    // Tenants that had most watches when one had to end, and until when they open no other one.
    std::map<std::string, absl::Time> crowded;
  };

  struct Remembered {
    size_t bytes;
    absl::Time until;
  };
  // By tenant.
  using Uses = std::map<std::string, size_t>;

  // Evict watches until the component is within its limit, or until this one must end.
  absl::Status AdmitBytes(Account& grown);
  // Only looks at the number of watches, and at `crowded`.
  absl::Status AdmitWatch(Account& opened);
  absl::Status TooManyBytes(const Component& component) const;
  absl::Status TooManyWatches(const Component& component) const;
  // Add what the account counts to its component, or subtract it; Publish() sets the gauges.
  static void Add(const Account& account);
  static void Subtract(const Account& account);
  static void Publish(const Component& component);
  // Whether the component is over its limit, with `room` bytes fewer in the common half.
  bool IsOver(const Component& component, size_t room = 0) const;
  Component& Find(std::string_view component);
  // A demanded watch that may have to end, so that another one can grow.
  struct Candidate {
    Account* account;
    std::set<std::string> tenants;
    size_t rank = 0;
  };
  // Adds the demanded watches of a component that count something, and their tenants' uses.
  using Size = size_t (*)(const Account&);
  static void AddCandidates(const Component& component, Size size, std::vector<Candidate>& all,
                            Uses& uses);
  // The smallest use of these tenants.
  static size_t RankOf(const std::set<std::string>& tenants, const Uses& uses);
  // The watches that may end so that one of this component can grow, with the first one first, and
  // their tenants' uses.
  std::vector<Candidate> RankByBytes(const Component& grown, Uses& uses);
  // The watches that may end so that this one can be opened; it is the first one among equals.
  static std::vector<Candidate> RankByWatches(const Account& opened, Uses& uses);
  // Whether all tenants of a demanded watch are in `crowded`.
  static bool IsCrowded(const Account& opened);
  bool MayEndFor(const Component& grown, const Component& component) const;
  void Remember(const std::set<std::string>& tenants, const Uses& uses);
  // Halves the remembered uses that are old.
  void Forget();
  size_t Share() const;
  // The used bytes of the half that all components share.
  size_t Common() const;

  const Options options_;
  Metrics& metrics_;
  const Clock& clock_;
  std::map<std::string, Component, std::less<>> components_;
  std::map<std::string, Remembered> remembered_;  // by tenant
};

}  // namespace mandate
