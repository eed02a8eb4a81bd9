#include "manager/cache/probe_budget.h"

#include <utility>

namespace mandate {

struct ProbeBudget::Component {
  using Queue = std::deque<std::shared_ptr<std::function<void()>>>;

  Component(TokenBucket::Options options, Loop& loop)
      : tokens(options, loop.clock().TimeNow()), timer(loop) {}

  // The next probe that was not withdrawn; null: none.
  std::shared_ptr<std::function<void()>> Next() {
    for (Queue* queue : {&hinted, &periodic}) {
      while (!queue->empty() && *queue->front() == nullptr) queue->pop_front();
      if (queue->empty()) continue;
      auto next = std::move(queue->front());
      queue->pop_front();
      return next;
    }
    return nullptr;
  }

  Queue hinted, periodic;
  TokenBucket tokens;
  LoopTimer timer;
  prometheus::Counter* probes = nullptr;
  prometheus::Gauge* waiting = nullptr;
};

ProbeBudget::ProbeBudget(Options options, Loop& loop, Metrics& metrics)
    : options_(options), loop_(loop), metrics_(metrics) {}

ProbeBudget::~ProbeBudget() = default;

ProbeBudget::Component& ProbeBudget::Find(std::string_view component) {
  const auto found = components_.find(component);
  if (found != components_.end()) return *found->second;
  auto added = std::make_unique<Component>(options_, loop_);
  const Labels labels = {{"identity", std::string(component)}};
  added->probes =
      &metrics_.Counter("mandate_cache_probes_total",
                        "Requests that asked whether denied access has come back", labels);
  added->waiting =
      &metrics_.Gauge("mandate_cache_probes_waiting",
                      "Requests that ask whether denied access has come back, and wait for the "
                      "component's budget",
                      labels);
  return *components_.emplace(std::string(component), std::move(added)).first->second;
}

std::unique_ptr<ProbeBudget::Ticket> ProbeBudget::Ask(std::string_view component, Urgency urgency,
                                                      std::function<void()> run) {
  Component& of = Find(component);
  auto probe = std::make_shared<std::function<void()>>(std::move(run));
  (urgency == Urgency::kHint ? of.hinted : of.periodic).push_back(probe);
  if (!of.timer.IsSet()) {
    of.timer.Set(loop_.clock().TimeNow(), [this, &of] { Run(of); });
  }
  return std::make_unique<Ticket>(std::move(probe));
}

void ProbeBudget::Run(Component& of) {
  const absl::Time now = loop_.clock().TimeNow();
  while (of.tokens.Wait(now) == absl::ZeroDuration()) {
    const auto probe = of.Next();
    if (probe == nullptr) break;
    of.tokens.Take(now);
    of.probes->Increment();
    // The probe may destroy its ticket.
    const auto run = std::exchange(*probe, nullptr);
    run();
  }
  std::erase_if(of.hinted, [](const auto& probe) { return *probe == nullptr; });
  of.waiting->Set(static_cast<double>(of.hinted.size() + of.periodic.size()));
  if (of.hinted.empty() && of.periodic.empty()) return;
  of.timer.SetAfter(of.tokens.Wait(now), [this, &of] { Run(of); });
}

}  // namespace mandate
