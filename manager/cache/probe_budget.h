// Bounds how often a component asks whether its access has come back, or has gone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "manager/cache/loop_timer.h"
#include "manager/core/executor.h"
#include "manager/core/metrics.h"
#include "manager/core/token_bucket.h"

namespace mandate {

// The probes of all components, each of which has a budget of its own. A probe is a request, or a
// pair of access reviews, that the server has denied before, or that a hint suggests. A component
// with a thousand denied scopes asks for each of them in turn, and no more often than its budget
// allows. Flows take turns, too (DemandSink::Flows): the objects of one tenant cannot delay the
// probes of another by more than one turn each. A probe for several flows waits in each of
// them, and runs at the first turn that comes: one flow more never delays it. Probes that a hint
// suggests have a budget apart, because most of them succeed. So have probes of access that a
// component has: what was revoked can be read until its recheck, so it does not wait for denied
// scopes. The watches that must be opened because a wider one has ended are probes, too, and
// reviews of access that is not known yet: thousands at once would make the server refuse the
// component's other requests. A probe that keeps its ticket is under way until the ticket's end.
//
// The places are those of a pool: the component's access reviews, or its lists and watches of one
// kind. A kind that the server does not answer takes no place of another. No flow takes all places
// of a pool that has several. One whose last answer came late is slow: it takes only one, and the
// slow flows together leave one to the others. So what the objects of some tenants make slow hardly
// delays the others.
// Loop thread only.
class ProbeBudget {
 public:
  struct Options {
    double per_second;  // of periodic ones
    int burst;
    // A hint opens a watch. An API server queues some 300 requests of a user (API Priority and
    // Fairness: 6 queues of 50), and answers 429 to more: these two have at most as many at once.
    TokenBucket::Options hints = {.per_second = 100, .burst = 200};
    TokenBucket::Options reopens = {.per_second = 200, .burst = 100};
    // These two are access reviews.
    TokenBucket::Options rechecks = {.per_second = 100, .burst = 500};
    TokenBucket::Options firsts = {.per_second = 1000, .burst = 1000};
    // Of a pool. This leaves places for the component's other calls (ClientOptions::max_in_flight).
    // A pool begins with an eighth of them. An answer within `slow_after` adds one, and a later one
    // takes half of them, down to `min_under_way`: to deny access in a namespace with thousands of
    // RoleBindings, or with large ones, takes a server seconds of all its cores.
    int max_under_way = 32;
    int min_under_way = 2;
    absl::Duration slow_after = absl::Seconds(1);
    // Without an answer for this long, a probe gives its place to another one: the server may never
    // answer it, and the others need not wait for that. Together they are at most `max_under_way`.
    // It takes half of the places, too, as an answer that comes so late: the server may be slow.
    absl::Duration hung_after = absl::Seconds(15);
  };
  enum class Urgency { kRecheck, kFirst, kReopen, kHint, kPeriodic };
  using Flows = std::set<std::string>;

 private:
  struct Lane;
  struct Component;
  struct Pool;
  struct Probe;

 public:
  // A probe that waits, or that is under way: the destructor withdraws or ends it. The budget
  // outlives it.
  class Ticket {
   public:
    Ticket(ProbeBudget& budget, std::shared_ptr<Probe> probe, Urgency urgency, Lane& lane);
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    // Another hint for the same probe should keep this ticket, and with it the place in the queue:
    // otherwise frequent hints would keep the last probes from their turn.
    bool IsWaitingHint() const;
    // From now on it also waits in these flows.
    void Join(const Flows& flows);
    // The server has answered. A ticket that ends without this says nothing about the server's
    // speed, unless it was late already.
    void NoteAnswer();

   private:
    ProbeBudget& budget_;
    const std::shared_ptr<Probe> probe_;  // shared with the queue
    const Urgency urgency_;
    Lane& lane_;
  };

  // Counter and gauge, {identity,reason=recheck|first|reopen|hint|periodic}:
  // mandate_cache_probes_total, mandate_cache_probes_waiting.
  ProbeBudget(Options options, Loop& loop, Metrics& metrics);
  ~ProbeBudget();

  // Calls `run` when it is the probe's turn; never inside this call, and not after the ticket is
  // destroyed. Without a flow it waits in that of the component, "".
  [[nodiscard]] std::unique_ptr<Ticket> Ask(std::string_view component, Flows flows,
                                            Urgency urgency, std::function<void()> run,
                                            std::string_view pool = "");

  // A request that need not wait for a rate: it is under way from now on. Null if the pool has no
  // place for it, or others wait as Urgency::kFirst: Ask() with that. `flows` as there.
  [[nodiscard]] std::unique_ptr<Ticket> Begin(std::string_view component, Flows flows,
                                              std::string_view pool);

 private:
  Pool& Find(std::string_view component, std::string_view pool);
  void Run(Lane& lane);
  void RunSoon(Lane& lane);
  void Start(Pool& pool, Probe& probe, std::string flow);
  // It has had no answer for `hung_after`.
  void GiveUp(Probe& probe);
  void End(Probe& probe);
  // Gives free places of the pool to probes that wait for one.
  void FillPlaces(Pool& pool);

  const Options options_;
  Loop& loop_;
  Metrics& metrics_;
  std::map<std::string, std::unique_ptr<Component>, std::less<>> components_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Pool>>
      pools_;  // by component and name
};

}  // namespace mandate
