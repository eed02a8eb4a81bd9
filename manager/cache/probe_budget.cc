#include "manager/cache/probe_budget.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "manager/cache/flow_queue.h"

namespace mandate {

struct ProbeBudget::Probe {
  std::function<void()> run;     // empty: it has run, or was withdrawn
  Flows flows = {};              // in which it waits
  Pool* under_way_of = nullptr;  // it has run, and its ticket lives
  std::string flow = {};         // whose turn it took
  absl::Time began = {};
  bool hung = false;      // it has given its place to another one
  bool answered = false;  // by the server
  std::optional<LoopTimer> timer = {};
};

// The rates of a component, which its pools share.
struct ProbeBudget::Component {
  Component(const Options& options, absl::Time now)
      : rechecks(options.rechecks, now),
        firsts(options.firsts, now),
        reopens(options.reopens, now),
        hints(options.hints, now),
        periodic({options.per_second, options.burst}, now) {}

  TokenBucket rechecks;
  TokenBucket firsts;
  TokenBucket reopens;
  TokenBucket hints;
  TokenBucket periodic;
};

// Probes of a pool that share a rate.
struct ProbeBudget::Lane {
  Lane(Pool& owner, TokenBucket& rate, Loop& loop, Metrics& metrics, const Labels& labels)
      : pool(owner),
        tokens(rate),
        timer(loop),
        probes(metrics.Counter("mandate_cache_probes_total",
                               "Requests that asked whether access has come back, or has gone",
                               labels)),
        waiting(metrics.Gauge("mandate_cache_probes_waiting",
                              "Such requests that wait for the component's budget", labels)) {}

  // A probe's place in one flow.
  struct Place {
    std::shared_ptr<Probe> probe;
    bool is_first;  // one of the probe's places
  };

  void Push(const std::shared_ptr<Probe>& probe, const std::string& flow) {
    const bool is_first = probe->flows.empty();
    if (probe->flows.insert(flow).second) queue.Push(flow, {probe, is_first});
  }

  struct Turn {
    std::string flow;
    std::shared_ptr<Probe> probe;
  };

  // The next probe that waits and has a place; nullopt: none.
  std::optional<Turn> Next();

  // Forgets the places of probes that are over, and counts those that wait. A long queue is tidied
  // once a second: it is looked at as a whole, and runs hundreds of probes in that time.
  void Tidy(absl::Time now) {
    if (queue.size() > kLong && now < tidied_at + absl::Seconds(1)) return;
    tidied_at = now;
    size_t count = 0;
    queue.EraseIf([&](const Place& place) {
      if (place.probe->run == nullptr) return true;
      if (place.is_first) ++count;
      return false;
    });
    // Other pools of the component have the same gauge.
    waiting.Increment(static_cast<double>(count) - static_cast<double>(counted));
    counted = count;
  }

  static constexpr size_t kLong = 500;

  Pool& pool;
  FlowQueue<Place> queue;
  size_t counted = 0;  // in `waiting`
  absl::Time tidied_at = absl::InfinitePast();
  TokenBucket& tokens;
  LoopTimer timer;
  prometheus::Counter& probes;
  prometheus::Gauge& waiting;
};

struct ProbeBudget::Pool {
  Pool(const Options& options, Component& rates, Loop& loop, Metrics& metrics,
       std::string_view name)
      : rechecks(*this, rates.rechecks, loop, metrics, LabelsOf(name, "recheck")),
        firsts(*this, rates.firsts, loop, metrics, LabelsOf(name, "first")),
        reopens(*this, rates.reopens, loop, metrics, LabelsOf(name, "reopen")),
        hints(*this, rates.hints, loop, metrics, LabelsOf(name, "hint")),
        periodic(*this, rates.periodic, loop, metrics, LabelsOf(name, "periodic")),
        max_under_way(options.max_under_way),
        min_places(std::min(options.min_under_way, options.max_under_way)),
        places(std::max(options.max_under_way / 8, min_places)) {}

  // After an answer that came soon, or late, or that is late already.
  void AddPlace() { places = std::min(places + 1, max_under_way); }
  void TakePlaces() { places = std::max(places / 2, min_places); }
  bool HasPlace() const { return under_way < places && under_way + hung < max_under_way; }

  // The probes of a flow, or of several.
  struct Use {
    int under_way = 0;
    int hung = 0;
  };

  Use OfSlowFlows() const {
    Use use;
    for (const auto& [flow, of_flow] : used_by) {
      if (!slow_flows.contains(flow)) continue;
      use.under_way += of_flow.under_way;
      use.hung += of_flow.hung;
    }
    return use;
  }
  bool HasPlaceFor(const std::string& flow, const Use& of_slow_flows) const {
    const auto used = used_by.find(flow);
    const int own = used == used_by.end() ? 0 : used->second.under_way;
    const int most = std::max(places - 1, 1);
    if (!slow_flows.contains(flow)) return own < most;
    return own == 0 && of_slow_flows.under_way < most &&
           of_slow_flows.under_way + of_slow_flows.hung < std::max(max_under_way - 1, 1);
  }
  void Take(const std::string& flow) {
    ++under_way;
    ++used_by[flow].under_way;
  }
  void GiveUp(const std::string& flow) {
    --under_way;
    ++hung;
    --used_by[flow].under_way;
    ++used_by[flow].hung;
  }
  void Release(const std::string& flow, bool was_hung) {
    Use& use = used_by[flow];
    --(was_hung ? hung : under_way);
    --(was_hung ? use.hung : use.under_way);
    if (use.under_way + use.hung == 0) used_by.erase(flow);
  }
  void NoteSlow(const std::string& flow) {
    if (slow_flows.size() >= kMostSlow && !slow_flows.contains(flow)) slow_flows.clear();
    slow_flows.insert(flow);
  }

  static Labels LabelsOf(std::string_view name, const char* reason) {
    return {{"identity", std::string(name)}, {"reason", reason}};
  }
  Lane& For(Urgency urgency) {
    switch (urgency) {
      case Urgency::kRecheck:
        return rechecks;
      case Urgency::kFirst:
        return firsts;
      case Urgency::kReopen:
        return reopens;
      case Urgency::kHint:
        return hints;
      case Urgency::kPeriodic:
        break;
    }
    return periodic;
  }

  static constexpr size_t kLanes = 5;
  // So many are kept in mind. One that is forgotten is noted again at its next slow answer.
  static constexpr size_t kMostSlow = 1000;

  Lane rechecks;
  Lane firsts;
  Lane reopens;
  Lane hints;
  Lane periodic;
  const int max_under_way;
  const int min_places;
  int places;
  int under_way = 0;
  int hung = 0;
  absl::flat_hash_map<std::string, Use> used_by;  // by flow; none is empty
  absl::flat_hash_set<std::string> slow_flows;    // whose last answer came late
  bool is_full = false;                           // a probe waits for a place
  size_t last_turn = kLanes - 1;                  // the lane that had the last free place
};

std::optional<ProbeBudget::Lane::Turn> ProbeBudget::Lane::Next() {
  const Pool::Use slow = pool.OfSlowFlows();
  const auto may = [&](const std::string& flow) { return pool.HasPlaceFor(flow, slow); };
  while (auto next = queue.Pop(may)) {
    if (next->item.probe->run == nullptr) continue;
    return Turn{std::move(next->flow), std::move(next->item.probe)};
  }
  return std::nullopt;
}

ProbeBudget::ProbeBudget(Options options, Loop& loop, Metrics& metrics)
    : options_(options), loop_(loop), metrics_(metrics) {}

ProbeBudget::~ProbeBudget() = default;

ProbeBudget::Pool& ProbeBudget::Find(std::string_view component, std::string_view pool) {
  auto& found = pools_[{std::string(component), std::string(pool)}];
  if (found != nullptr) return *found;
  auto& rates = components_[std::string(component)];
  if (rates == nullptr) rates = std::make_unique<Component>(options_, loop_.clock().TimeNow());
  found = std::make_unique<Pool>(options_, *rates, loop_, metrics_, component);
  return *found;
}

ProbeBudget::Ticket::Ticket(ProbeBudget& budget, std::shared_ptr<Probe> probe, Urgency urgency,
                            Lane& lane)
    : budget_(budget), probe_(std::move(probe)), urgency_(urgency), lane_(lane) {}

ProbeBudget::Ticket::~Ticket() {
  probe_->run = nullptr;
  if (probe_->under_way_of != nullptr) budget_.End(*probe_);
}

bool ProbeBudget::Ticket::IsWaitingHint() const {
  return probe_->run != nullptr && urgency_ != Urgency::kPeriodic;
}

void ProbeBudget::Ticket::Join(const Flows& flows) {
  if (probe_->run == nullptr) return;
  for (const std::string& flow : flows) lane_.Push(probe_, flow);
  budget_.RunSoon(lane_);
}

void ProbeBudget::Ticket::NoteAnswer() { probe_->answered = true; }

std::unique_ptr<ProbeBudget::Ticket> ProbeBudget::Ask(std::string_view component, Flows flows,
                                                      Urgency urgency, std::function<void()> run,
                                                      std::string_view pool) {
  Lane& lane = Find(component, pool).For(urgency);
  if (flows.empty()) flows.emplace();
  auto probe = std::make_shared<Probe>(Probe{.run = std::move(run)});
  for (const std::string& flow : flows) lane.Push(probe, flow);
  RunSoon(lane);
  return std::make_unique<Ticket>(*this, std::move(probe), urgency, lane);
}

std::unique_ptr<ProbeBudget::Ticket> ProbeBudget::Begin(std::string_view component, Flows flows,
                                                        std::string_view name) {
  Pool& pool = Find(component, name);
  if (!pool.HasPlace() || pool.firsts.queue.size() > 0) return nullptr;
  if (flows.empty()) flows.emplace();
  const Pool::Use slow = pool.OfSlowFlows();
  const auto flow =
      std::ranges::find_if(flows, [&](const std::string& f) { return pool.HasPlaceFor(f, slow); });
  if (flow == flows.end()) return nullptr;
  auto probe = std::make_shared<Probe>();
  Start(pool, *probe, *flow);
  return std::make_unique<Ticket>(*this, std::move(probe), Urgency::kFirst, pool.firsts);
}

void ProbeBudget::RunSoon(Lane& lane) {
  if (lane.timer.IsSet()) return;
  lane.timer.Set(loop_.clock().TimeNow(), [this, &lane] { Run(lane); });
}

void ProbeBudget::Run(Lane& lane) {
  const absl::Time now = loop_.clock().TimeNow();
  Pool& pool = lane.pool;
  bool took = false, has_place = true;
  while (lane.tokens.Wait(now) == absl::ZeroDuration()) {
    auto next = pool.HasPlace() ? lane.Next() : std::nullopt;
    has_place = next.has_value();
    if (!has_place) break;
    lane.tokens.Take(now);
    took = true;
    lane.probes.Increment();
    Start(pool, *next->probe, std::move(next->flow));
    // The probe may destroy its ticket.
    const auto run = std::exchange(next->probe->run, nullptr);
    run();
  }
  lane.Tidy(now);
  if (lane.queue.size() == 0) return;
  if (!has_place) {
    pool.is_full = true;  // it waits for End()
    return;
  }
  // The next token is for the pools that wait for longer.
  const absl::Duration turn = took ? absl::Nanoseconds(1) : absl::ZeroDuration();
  lane.timer.SetAfter(lane.tokens.Wait(now) + turn, [this, &lane] { Run(lane); });
}

void ProbeBudget::Start(Pool& pool, Probe& probe, std::string flow) {
  pool.Take(flow);
  probe.under_way_of = &pool;
  probe.flow = std::move(flow);
  probe.began = loop_.clock().TimeNow();
  probe.timer.emplace(loop_);
  // A request that gives up its place is slow, too, if `hung_after` is the shorter time.
  probe.timer->SetAfter(std::min(options_.slow_after, options_.hung_after), [this, &pool, &probe] {
    pool.NoteSlow(probe.flow);
    probe.timer->Set(probe.began + options_.hung_after, [this, &probe] { GiveUp(probe); });
  });
}

void ProbeBudget::GiveUp(Probe& probe) {
  Pool& pool = *probe.under_way_of;
  probe.hung = true;
  pool.GiveUp(probe.flow);
  // A server that is only slow still works on it.
  pool.TakePlaces();
  FillPlaces(pool);
}

void ProbeBudget::End(Probe& probe) {
  Pool& pool = *std::exchange(probe.under_way_of, nullptr);
  probe.timer.reset();
  pool.Release(probe.flow, probe.hung);
  if (loop_.clock().TimeNow() - probe.began > options_.slow_after) {
    pool.TakePlaces();
  } else if (probe.answered) {
    pool.slow_flows.erase(probe.flow);
    pool.AddPlace();
  }
  FillPlaces(pool);
}

void ProbeBudget::FillPlaces(Pool& pool) {
  if (!pool.HasPlace() || !std::exchange(pool.is_full, false)) return;
  Lane* const lanes[Pool::kLanes] = {&pool.rechecks, &pool.firsts, &pool.reopens, &pool.hints,
                                     &pool.periodic};
  // The lane whose timer is set first takes the place. The lanes take turns: thousands that wait in
  // one of them would keep the others from theirs.
  const size_t last = pool.last_turn;
  bool is_first = true;
  for (size_t i = 1; i <= Pool::kLanes; ++i) {
    const size_t turn = (last + i) % Pool::kLanes;
    Lane* const lane = lanes[turn];
    if (lane->queue.size() == 0) continue;
    if (std::exchange(is_first, false)) pool.last_turn = turn;
    lane->timer.Set(loop_.clock().TimeNow(), [this, lane] { Run(*lane); });
  }
}

}  // namespace mandate
