#include "manager/transport/connection_pool.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "manager/core/fair_share.h"

namespace mandate {
namespace {

// An eighth of the places on connections is reserved for components that have at most one. A larger
// reserve would cost too much over HTTP/1.1. A few greedy components would use up a smaller one.
constexpr size_t kMostKept = 8;

// Rendezvous hashing. It gives the same result in every process, so a simulated run can be
// repeated.
uint64_t Weight(uint64_t identity, uint64_t connection) {
  uint64_t bits = identity ^ (connection * 0x9e3779b97f4a7c15u);
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

}  // namespace

ConnectionPool::ConnectionPool(const ConnectionContext& context, Host& host)
    : context_(context), host_(host) {}

ConnectionPool::~ConnectionPool() {
  for (const Waiting& one : waiting_) one.active->SetOnDrop(nullptr);
}

absl::Status ConnectionPool::Submit(std::shared_ptr<ActiveRequest> active) {
  const HttpOptions& options = context_.options;
  const User& user = users_[active->request().user_agent];
  const size_t free =
      options.max_queued_requests - std::min(options.max_queued_requests, waiting_.size());
  if (!MayTakeShare(user.waiting, free, options.component_share_factor)) {
    ++context_.stats.limited_waiting;
    return absl::ResourceExhaustedError(
        absl::StrCat(active->request().endpoint->server, ": ", waiting_.size(),
                     " requests wait for a connection; ", user.waiting, " are from ",
                     active->request().user_agent,
                     ", and its limit is reached: send fewer requests at the same time"));
  }
  Enqueue(std::move(active), /*in_front=*/false);
  return absl::OkStatus();
}

void ConnectionPool::Enqueue(std::shared_ptr<ActiveRequest> active, bool in_front) {
  // Dispatch() skips requests that have ended.
  active->SetOnDrop([this] { host_.ScheduleDispatch(*this); });
  User& user = users_[active->request().user_agent];
  ++user.waiting;
  waiting_.insert(in_front ? waiting_.begin() : waiting_.end(), {std::move(active), &user});
  host_.ScheduleDispatch(*this);
}

void ConnectionPool::Requeue(std::shared_ptr<ActiveRequest> active) {
  Enqueue(std::move(active), /*in_front=*/true);
}

void ConnectionPool::OnRequestRemoved(const ActiveRequest& active) {
  --users_[active.request().user_agent].active;
}

void ConnectionPool::ConnectFailed(const absl::Status& status) {
  // The others can wait for another connection, as long as one works.
  for (const auto& [id, connection] : connections_) {
    if (connection->state() == StreamLimiter::State::kOpen) return;
  }
  EndWaiting(status);
}

void ConnectionPool::EndWaiting(const absl::Status& status) {
  std::vector<std::shared_ptr<ActiveRequest>> requests;
  while (!waiting_.empty()) requests.push_back(Take(waiting_.begin()));
  for (const auto& active : requests) active->End(status);
}

void ConnectionPool::Dispatch() {
  wants_connection_ = false;
  RemoveDead();
  RemoveOver();
  for (auto& [name, user] : users_) user.blocked = false;
  size_t blocked = 0;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (IsBlocked(*it)) {
      ++blocked;
      ++it;
    } else if (Connection* const connection = Choose(it->active->request())) {
      ++it->user->active;
      connection->Start(Take(it++));
    } else if (PendingCapacity() >= waiting_.size() - blocked || !AcquireConnection()) {
      return;
    } else if (absl::Status status = Connect(); !status.ok()) {
      Take(it++)->End(status);
    }
  }
}

std::shared_ptr<ActiveRequest> ConnectionPool::Take(std::list<Waiting>::iterator at) {
  --at->user->waiting;
  std::shared_ptr<ActiveRequest> active = std::move(at->active);
  waiting_.erase(at);
  return active;
}

bool ConnectionPool::IsBlocked(const Waiting& waiting) {
  User& user = *waiting.user;
  if (!user.blocked) {
    const size_t free = FreeCapacity();
    const size_t kept = std::min((free + Active()) / 8, kMostKept);
    user.blocked =
        free > 0 && !MayTakeShare(user.active, free, context_.options.component_share_factor, kept);
    if (user.blocked) host_.CloseIdleConnection(*this);
  }
  if (user.blocked && !std::exchange(waiting.active->exceeded_share, true)) {
    ++context_.stats.limited_share;
  }
  return user.blocked;
}

void ConnectionPool::RemoveOver() {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const auto at = it++;
    if (at->active->ended()) Take(at);
  }
}

void ConnectionPool::RemoveDead() {
  for (auto it = connections_.begin(); it != connections_.end();) {
    if (it->second->dead()) {
      it = connections_.erase(it);
      host_.ReleaseConnection();
    } else {
      if (it->second->state() == StreamLimiter::State::kOpen)
        multiplexed_ = it->second->multiplexed();
      ++it;
    }
  }
}

Connection* ConnectionPool::Choose(const HttpRequest& request) const {
  Connection* best = nullptr;
  uint64_t best_weight = 0;
  // The key does not have the token, which changes while the component stays the same.
  const uint64_t component = std::hash<std::string>()(request.user_agent);
  for (const auto& [id, connection] : connections_) {
    if (connection->free_capacity() == 0) continue;
    const uint64_t weight = Weight(component, id);
    if (best == nullptr || weight > best_weight) {
      best = connection.get();
      best_weight = weight;
    }
  }
  return best;
}

size_t ConnectionPool::PendingCapacity() const {
  if (!multiplexed_) return 0;
  size_t capacity = 0;
  for (const auto& [id, connection] : connections_) {
    if (connection->is_connecting()) capacity += connection->cap() - 1;
  }
  return capacity;
}

size_t ConnectionPool::FreeCapacity() const {
  size_t places = PendingCapacity();
  size_t cap = 1;
  for (const auto& [id, connection] : connections_) {
    places += connection->free_capacity();
    cap = std::max(cap, connection->cap());
  }
  if (connections_.empty()) cap = StreamCap(context_.options);
  return places + host_.AvailableConnections(*this) * (multiplexed_ ? cap : 1);
}

size_t ConnectionPool::Active() const {
  size_t active = 0;
  for (const auto& [id, connection] : connections_) active += connection->active();
  return active;
}

bool ConnectionPool::AcquireConnection() {
  if (host_.AcquireConnection(*this)) return true;
  wants_connection_ = true;
  ++context_.stats.limited_connection;
  return false;
}

absl::Status ConnectionPool::Connect() {
  absl::StatusOr<std::shared_ptr<Connection>> connection = Connection::Create(context_, *this);
  if (!connection.ok()) {
    host_.ReleaseConnection();
    return connection.status();
  }
  connections_.emplace(next_connection_++, *std::move(connection));
  return absl::OkStatus();
}

Connection* ConnectionPool::Idle() const {
  for (const auto& [id, connection] : connections_) {
    if (connection->idle()) return connection.get();
  }
  return nullptr;
}

void ConnectionPool::CloseIdle() {
  if (Connection* const connection = Idle()) {
    connection->Kill(absl::UnavailableError("the idle connection was closed for another one"));
  }
}

void ConnectionPool::Shutdown(const absl::Status& status) {
  EndWaiting(status);
  for (const auto& [id, connection] : connections_) connection->Kill(status);
}

void ConnectionPool::SilenceStreams() {
  for (const Waiting& one : waiting_) one.active->SilenceIfStream();
  for (const auto& [id, connection] : connections_) connection->SilenceStreams();
}

void ConnectionPool::Probe() {
  for (const auto& [id, connection] : connections_) connection->Probe();
}

void ConnectionPool::AddTo(HttpStats& stats) const {
  stats.waiting += waiting_.size();
  stats.connections += connections_.size();
  stats.active += Active();
}

}  // namespace mandate
