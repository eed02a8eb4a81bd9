#include "testing/apiserver/faults.h"

#include <utility>

#include "testing/apiserver/stream_fault.h"

namespace mandate::apiserver {
namespace {

bool Matches(const FaultRule& rule, const Request& request) {
  if (!rule.verb.empty() && rule.verb != request.attributes.verb) return false;
  if (!rule.resource.empty() && rule.resource != request.attributes.resource) return false;
  if (!request.path.starts_with(rule.path_prefix)) return false;
  if (!rule.parameter.empty() && !request.HasQuery(rule.parameter)) return false;
  if (!rule.except_bearer.empty() &&
      request.Header("authorization") == "Bearer " + rule.except_bearer) {
    return false;
  }
  return rule.bearer.empty() || request.Header("authorization") == "Bearer " + rule.bearer;
}

bool HarmsStreams(const Fault& fault) {
  return fault.end_after || fault.stall_after || fault.frame_delay > absl::ZeroDuration() ||
         fault.drop_bookmarks > 0 || fault.late_bookmarks || fault.garbage > 0;
}

}  // namespace

uint64_t Faults::Add(FaultRule rule) {
  rules_.push_back({++next_id_, std::move(rule)});
  return next_id_;
}

void Faults::Remove(uint64_t id) {
  std::erase_if(rules_, [id](const Entry& entry) { return entry.id == id; });
}

const Fault* Faults::Choose(const Request& request) {
  for (Entry& entry : rules_) {
    FaultRule& rule = entry.rule;
    if (rule.times == 0 || !Matches(rule, request)) continue;
    const double die = static_cast<double>(random_() >> 11) / static_cast<double>(1ull << 53);
    if (die >= rule.probability) continue;
    if (rule.skip > 0) {
      --rule.skip;
      continue;
    }
    --rule.times;
    ++struck_;
    return &rule.fault;
  }
  return nullptr;
}

void Faults::Meet(std::shared_ptr<Exchange> exchange, const Handler& next) {
  const Fault* chosen = Choose(exchange->request());
  if (chosen == nullptr) return next(std::move(exchange));
  const Fault fault = *chosen;
  if (fault.ignore) {
    // Keeps the exchange open until the client leaves; its destructor would close it.
    exchange->OnClosed([keep = std::make_shared<std::shared_ptr<Exchange>>(exchange)] {});
    return;
  }
  if (fault.drop) return exchange->Abort();
  if (fault.refuse) return exchange->Fail(*fault.refuse);
  if (fault.lose_answer) {
    exchange->OnAnswer([weak = std::weak_ptr<Exchange>(exchange)](Response&) {
      if (const auto lost = weak.lock()) lost->Abort();
    });
  }
  if (HarmsStreams(fault)) StreamFault::Attach(loop_, fault, random_(), *exchange);
  if (fault.delay <= absl::ZeroDuration()) return next(std::move(exchange));
  auto timer = std::make_shared<std::unique_ptr<Loop::Timer>>();
  *timer = loop_.RunAt(loop_.clock().TimeNow() + fault.delay, [exchange, next] { next(exchange); });
  exchange->OnClosed([timer] { timer->reset(); });
}

}  // namespace mandate::apiserver
