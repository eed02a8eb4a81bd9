#include "manager/transport/connection_budget.h"

#include <algorithm>
#include <utility>

#include "manager/core/fair_share.h"
#include "manager/transport/pool_key.h"

namespace mandate {

ConnectionBudget::ConnectionBudget(const ConnectionContext& context, size_t limit,
                                   std::function<void()> schedule_dispatch)
    : context_(context), limit_(limit), schedule_dispatch_(std::move(schedule_dispatch)) {}

absl::Status ConnectionBudget::Submit(std::shared_ptr<ActiveRequest> active) {
  auto& pool = pools_[PoolKeyOf(active->request())];
  if (pool == nullptr) pool = std::make_unique<ConnectionPool>(context_, static_cast<Host&>(*this));
  return pool->Submit(std::move(active));
}

void ConnectionBudget::SilenceStreams() {
  for (const auto& [key, pool] : pools_) pool->SilenceStreams();
}

void ConnectionBudget::Probe() {
  for (const auto& [key, pool] : pools_) pool->Probe();
}

void ConnectionBudget::Shutdown(const absl::Status& status) {
  for (const auto& [key, pool] : pools_) pool->Shutdown(status);
  queue_.clear();
  wanting_.clear();
  pools_.clear();
}

void ConnectionBudget::AddTo(HttpStats& stats) const {
  for (const auto& [key, pool] : pools_) pool->AddTo(stats);
}

void ConnectionBudget::ScheduleDispatch(ConnectionPool& pool) {
  wanting_.insert(&pool);
  if (!std::exchange(dispatch_scheduled_, true)) schedule_dispatch_();
}

size_t ConnectionBudget::AvailableConnections(const ConnectionPool& pool) const {
  size_t free = limit_ - connections_;
  for (const ConnectionPool* const ahead : queue_) {
    if (ahead == &pool || free == 0) break;
    free -= MayTakeShare(ahead->connections(), free, context_.options.component_share_factor);
  }
  return ShareLeft(pool.connections(), free, context_.options.component_share_factor);
}

bool ConnectionBudget::AcquireConnection(ConnectionPool& pool) {
  const auto at = std::find(queue_.begin(), queue_.end(), &pool);
  if (AvailableConnections(pool) == 0) {
    if (at == queue_.end()) queue_.push_back(&pool);
    CloseIdleConnection(pool);
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
  for (const auto& [key, pool] : pools_) {
    if (pool->waiting() > 0) ScheduleDispatch(*pool);
  }
}

void ConnectionBudget::CloseIdleConnection(const ConnectionPool& pool) {
  ConnectionPool* largest = nullptr;
  for (const auto& [key, other] : pools_) {
    if (!other->has_idle() || other->connections() <= pool.connections()) continue;
    if (largest == nullptr || other->connections() > largest->connections()) largest = other.get();
  }
  if (largest != nullptr) largest->CloseIdle();
}

void ConnectionBudget::Dispatch() {
  dispatch_scheduled_ = false;
  const std::set<ConnectionPool*> wanting = std::exchange(wanting_, {});
  for (auto it = pools_.begin(); it != pools_.end();) {
    ConnectionPool* const pool = it->second.get();
    if (wanting.contains(pool)) {
      pool->Dispatch();
      if (!pool->wants_connection() && std::erase(queue_, pool) > 0) PumpWaiting();
    }
    if (pool->empty()) {
      wanting_.erase(pool);
      std::erase(queue_, pool);
      it = pools_.erase(it);
    } else {
      ++it;
    }
  }
}

}  // namespace mandate
