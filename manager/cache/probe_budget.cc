#include "manager/cache/probe_budget.h"

#include <utility>

#include "manager/cache/flow_queue.h"

namespace mandate {

// Probes that share a budget.
struct ProbeBudget::Lane {
  Lane(TokenBucket::Options options, Loop& loop, Metrics& metrics, const Labels& labels)
      : tokens(options, loop.clock().TimeNow()),
        timer(loop),
        probes(metrics.Counter("mandate_cache_probes_total",
                               "Requests that asked whether access has come back, or has gone",
                               labels)),
        waiting(metrics.Gauge("mandate_cache_probes_waiting",
                              "Such requests that wait for the component's budget", labels)) {}

  // The next probe that was not withdrawn; null: none.
  std::shared_ptr<std::function<void()>> Next() {
    while (auto next = queue.Pop()) {
      if (**next != nullptr) return *std::move(next);
    }
    return nullptr;
  }

  FlowQueue<std::shared_ptr<std::function<void()>>> queue;
  TokenBucket tokens;
  LoopTimer timer;
  prometheus::Counter& probes;
  prometheus::Gauge& waiting;
};

struct ProbeBudget::Component {
  Component(const Options& options, Loop& loop, Metrics& metrics, std::string_view name)
      : rechecks(options.rechecks, loop, metrics, LabelsOf(name, "recheck")),
        hints(options.hints, loop, metrics, LabelsOf(name, "hint")),
        periodic({options.per_second, options.burst}, loop, metrics, LabelsOf(name, "periodic")) {}

  static Labels LabelsOf(std::string_view name, const char* reason) {
    return {{"identity", std::string(name)}, {"reason", reason}};
  }
  Lane& For(Urgency urgency) {
    switch (urgency) {
      case Urgency::kRecheck:
        return rechecks;
      case Urgency::kHint:
        return hints;
      case Urgency::kPeriodic:
        break;
    }
    return periodic;
  }

  Lane rechecks;
  Lane hints;
  Lane periodic;
};

ProbeBudget::ProbeBudget(Options options, Loop& loop, Metrics& metrics)
    : options_(options), loop_(loop), metrics_(metrics) {}

ProbeBudget::~ProbeBudget() = default;

ProbeBudget::Component& ProbeBudget::Find(std::string_view component) {
  const auto found = components_.find(component);
  if (found != components_.end()) return *found->second;
  auto added = std::make_unique<Component>(options_, loop_, metrics_, component);
  return *components_.emplace(std::string(component), std::move(added)).first->second;
}

std::unique_ptr<ProbeBudget::Ticket> ProbeBudget::Ask(std::string_view component, std::string flow,
                                                      Urgency urgency, std::function<void()> run) {
  Lane& lane = Find(component).For(urgency);
  auto probe = std::make_shared<std::function<void()>>(std::move(run));
  lane.queue.Push(std::move(flow), probe);
  if (!lane.timer.IsSet()) {
    lane.timer.Set(loop_.clock().TimeNow(), [this, &lane] { Run(lane); });
  }
  return std::make_unique<Ticket>(std::move(probe), urgency);
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
  lane.queue.EraseIf([](const auto& waits) { return *waits == nullptr; });
  lane.waiting.Set(static_cast<double>(lane.queue.size()));
  if (lane.queue.size() == 0) return;
  lane.timer.SetAfter(lane.tokens.Wait(now), [this, &lane] { Run(lane); });
}

}  // namespace mandate
