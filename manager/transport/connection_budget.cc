#include "manager/transport/connection_budget.h"

#include <algorithm>
#include <utility>

#include "manager/core/fair_share.h"
#include "manager/transport/pool_key.h"

namespace mandate {

ConnectionBudget::ConnectionBudget(const ConnectionContext& parts, size_t limit,
                                   std::function<void()> schedule_pump)
    : parts_(parts), limit_(limit), schedule_pump_(std::move(schedule_pump)) {}

absl::Status ConnectionBudget::Submit(std::shared_ptr<ActiveRequest> active) {
  auto& set = sets_[PoolKeyOf(active->request())];
  if (set == nullptr) set = std::make_unique<ConnectionPool>(parts_, static_cast<Host&>(*this));
  return set->Submit(std::move(active));
}

void ConnectionBudget::Silence() {
  for (const auto& [key, set] : sets_) set->Silence();
}

void ConnectionBudget::Probe() {
  for (const auto& [key, set] : sets_) set->Probe();
}

void ConnectionBudget::Shutdown(const absl::Status& status) {
  for (const auto& [key, set] : sets_) set->Shutdown(status);
  queue_.clear();
  wanting_.clear();
  sets_.clear();
}

void ConnectionBudget::AddTo(HttpStats& stats) const {
  for (const auto& [key, set] : sets_) set->AddTo(stats);
}

void ConnectionBudget::WantsPump(ConnectionPool& set) {
  wanting_.insert(&set);
  if (!std::exchange(pump_scheduled_, true)) schedule_pump_();
}

size_t ConnectionBudget::Grantable(const ConnectionPool& set) const {
  size_t free = limit_ - connections_;
  for (const ConnectionPool* const ahead : queue_) {
    if (ahead == &set || free == 0) break;
    free -= MayTakeShare(ahead->connections(), free, parts_.options.share);
  }
  return ShareLeft(set.connections(), free, parts_.options.share);
}

bool ConnectionBudget::AcquireConnection(ConnectionPool& set) {
  const auto at = std::find(queue_.begin(), queue_.end(), &set);
  if (Grantable(set) == 0) {
    if (at == queue_.end()) queue_.push_back(&set);
    MakeRoom(set);
    return false;
  }
  if (at != queue_.end()) queue_.erase(at);
  ++connections_;
  return true;
}

void ConnectionBudget::ReleaseConnection() {
  --connections_;
  PumpWaiting();
}

void ConnectionBudget::PumpWaiting() {
  for (const auto& [key, set] : sets_) {
    if (set->waiting() > 0) WantsPump(*set);
  }
}

void ConnectionBudget::MakeRoom(const ConnectionPool& set) {
  ConnectionPool* largest = nullptr;
  for (const auto& [key, other] : sets_) {
    if (!other->has_idle() || other->connections() <= set.connections()) continue;
    if (largest == nullptr || other->connections() > largest->connections()) largest = other.get();
  }
  if (largest != nullptr) largest->CloseIdle();
}

void ConnectionBudget::Pump() {
  pump_scheduled_ = false;
  const std::set<ConnectionPool*> wanting = std::exchange(wanting_, {});
  for (auto it = sets_.begin(); it != sets_.end();) {
    ConnectionPool* const set = it->second.get();
    if (wanting.contains(set)) {
      set->Pump();
      if (!set->wants_connection() && std::erase(queue_, set) > 0) PumpWaiting();
    }
    if (set->empty()) {
      wanting_.erase(set);
      std::erase(queue_, set);
      it = sets_.erase(it);
    } else {
      ++it;
    }
  }
}

}  // namespace mandate
