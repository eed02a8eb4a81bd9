#include "manager/cache/probe_budget.h"

#include <utility>

namespace mandate {

// Probes that share a budget.
struct ProbeBudget::Lane {
  using Queue = std::deque<std::shared_ptr<std::function<void()>>>;

  Lane(TokenBucket::Options options, Loop& loop, prometheus::Counter& counter,
       prometheus::Gauge& gauge)
      : tokens(options, loop.clock().TimeNow()), timer(loop), probes(counter), waiting(gauge) {}

  // Of the hinted ones, at most this many run while a periodic one waits.
  static constexpr int kMostInARow = 4;

  void DropWithdrawn() {
    for (Queue* queue : {&hinted, &periodic}) {
      std::erase_if(*queue, [](const auto& probe) { return *probe == nullptr; });
    }
  }
  // The next probe that was not withdrawn; null: none.
  std::shared_ptr<std::function<void()>> Next() {
    for (Queue* queue : {&hinted, &periodic}) {
      while (!queue->empty() && *queue->front() == nullptr) queue->pop_front();
    }
    const bool is_turn_of_periodic = hinted.empty() || in_a_row >= kMostInARow;
    Queue& queue = is_turn_of_periodic && !periodic.empty() ? periodic : hinted;
    if (queue.empty()) return nullptr;
    in_a_row = &queue == &hinted ? in_a_row + 1 : 0;
    auto next = std::move(queue.front());
    queue.pop_front();
    return next;
  }

  Queue hinted, periodic;
  int in_a_row = 0;
  TokenBucket tokens;
  LoopTimer timer;
  prometheus::Counter& probes;
  prometheus::Gauge& waiting;
};

struct ProbeBudget::Component {
  Lane asks;
  Lane rechecks;
};

ProbeBudget::ProbeBudget(Options options, Loop& loop, Metrics& metrics)
    : options_(options), loop_(loop), metrics_(metrics) {}

ProbeBudget::~ProbeBudget() = default;

ProbeBudget::Component& ProbeBudget::Find(std::string_view component) {
  const auto found = components_.find(component);
  if (found != components_.end()) return *found->second;
  const Labels labels = {{"identity", std::string(component)}};
  auto added = std::unique_ptr<Component>(new Component{
      .asks = {{.per_second = options_.per_second, .burst = options_.burst},
               loop_,
               metrics_.Counter("mandate_cache_probes_total",
                                "Requests that asked whether denied access has come back", labels),
               metrics_.Gauge("mandate_cache_probes_waiting",
                              "Requests that ask whether denied access has come back, and wait for "
                              "the component's budget",
                              labels)},
      .rechecks = {
          options_.rechecks, loop_,
          metrics_.Counter("mandate_cache_rechecks_total",
                           "Reviews, caused by a hint, of access that a component has", labels),
          metrics_.Gauge("mandate_cache_rechecks_waiting",
                         "Reviews, caused by a hint, of access that a component has, and "
                         "that wait for its budget",
                         labels)}});
  return *components_.emplace(std::string(component), std::move(added)).first->second;
}

std::unique_ptr<ProbeBudget::Ticket> ProbeBudget::Ask(std::string_view component, Urgency urgency,
                                                      std::function<void()> run) {
  Component& of = Find(component);
  Lane& lane = urgency == Urgency::kRecheck ? of.rechecks : of.asks;
  auto probe = std::make_shared<std::function<void()>>(std::move(run));
  (urgency == Urgency::kPeriodic ? lane.periodic : lane.hinted).push_back(probe);
  if (!lane.timer.IsSet()) {
    lane.timer.Set(loop_.clock().TimeNow(), [this, &lane] { Run(lane); });
  }
  return std::make_unique<Ticket>(std::move(probe));
}

void ProbeBudget::Run(Lane& lane) {
  const absl::Time now = loop_.clock().TimeNow();
  while (lane.tokens.Wait(now) == absl::ZeroDuration()) {
    const auto probe = lane.Next();
    if (probe == nullptr) break;
    lane.tokens.Take(now);
    lane.probes.Increment();
    // The probe may destroy its ticket.
    const auto run = std::exchange(*probe, nullptr);
    run();
  }
  lane.DropWithdrawn();
  lane.waiting.Set(static_cast<double>(lane.hinted.size() + lane.periodic.size()));
  if (lane.hinted.empty() && lane.periodic.empty()) return;
  lane.timer.SetAfter(lane.tokens.Wait(now), [this, &lane] { Run(lane); });
}

}  // namespace mandate
