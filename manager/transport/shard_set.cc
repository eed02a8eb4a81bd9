#include "manager/transport/shard_set.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "manager/core/fair_share.h"

namespace mandate {
namespace {

// Of places on connections an eighth is kept for components that have one at most, but not more:
// over HTTP/1.1 some greedy components would use up all.
constexpr size_t kMostKept = 8;

// Rendezvous hashing; the same in every process, so that a simulated run repeats.
uint64_t Weight(uint64_t identity, uint64_t shard) {
  uint64_t bits = identity ^ (shard * 0x9e3779b97f4a7c15u);
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

}  // namespace

ShardSet::ShardSet(const ShardParts& parts, Host& host) : parts_(parts), host_(host) {}

ShardSet::~ShardSet() {
  for (const Waiting& one : waiting_) one.exchange->SetCarrier(nullptr);
}

absl::Status ShardSet::Submit(std::shared_ptr<Exchange> exchange) {
  const HttpOptions& options = parts_.options;
  const User& user = users_[exchange->request().user_agent];
  const size_t free = options.max_waiting - std::min(options.max_waiting, waiting_.size());
  if (!MayTakeShare(user.waiting, free, options.share)) {
    ++parts_.stats.refused_waiting;
    return absl::ResourceExhaustedError(
        absl::StrCat(exchange->request().endpoint->server, ": ", waiting_.size(),
                     " requests wait for a connection, ", user.waiting,
                     " of them of this component, which may have no more: send fewer at once"));
  }
  Enqueue(std::move(exchange), /*in_front=*/false);
  return absl::OkStatus();
}

void ShardSet::Enqueue(std::shared_ptr<Exchange> exchange, bool in_front) {
  // Pump() skips exchanges that are over.
  exchange->SetCarrier([this] { host_.WantsPump(*this); });
  User& user = users_[exchange->request().user_agent];
  ++user.waiting;
  waiting_.insert(in_front ? waiting_.begin() : waiting_.end(), {std::move(exchange), &user});
  host_.WantsPump(*this);
}

void ShardSet::TakeBack(std::shared_ptr<Exchange> exchange) {
  Enqueue(std::move(exchange), /*in_front=*/true);
}

void ShardSet::Left(const Exchange& exchange) { --users_[exchange.request().user_agent].active; }

void ShardSet::ConnectFailed(const absl::Status& status) {
  // While another connection works, the others can wait for it.
  for (const auto& [id, shard] : shards_) {
    if (shard->state() == Admission::State::kOpen) return;
  }
  EndWaiting(status);
}

void ShardSet::EndWaiting(const absl::Status& status) {
  std::vector<std::shared_ptr<Exchange>> exchanges;
  while (!waiting_.empty()) exchanges.push_back(Take(waiting_.begin()));
  for (const auto& exchange : exchanges) exchange->End(status);
}

void ShardSet::Pump() {
  wants_connection_ = false;
  RemoveDead();
  RemoveOver();
  for (auto& [name, user] : users_) user.blocked = false;
  size_t blocked = 0;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (IsBlocked(*it)) {
      ++blocked;
      ++it;
    } else if (Shard* const shard = Choose(it->exchange->request())) {
      ++it->user->active;
      shard->Start(Take(it++));
    } else if (PromisedRoom() >= waiting_.size() - blocked || !AcquireConnection()) {
      return;
    } else if (absl::Status status = Connect(); !status.ok()) {
      Take(it++)->End(status);
    }
  }
}

std::shared_ptr<Exchange> ShardSet::Take(std::list<Waiting>::iterator at) {
  --at->user->waiting;
  std::shared_ptr<Exchange> exchange = std::move(at->exchange);
  waiting_.erase(at);
  return exchange;
}

bool ShardSet::IsBlocked(const Waiting& waiting) {
  User& user = *waiting.user;
  if (!user.blocked) {
    const size_t free = FreePlaces();
    const size_t kept = std::min((free + Active()) / 8, kMostKept);
    user.blocked = free > 0 && !MayTakeShare(user.active, free, parts_.options.share, kept);
    if (user.blocked) host_.MakeRoom(*this);
  }
  if (user.blocked && !std::exchange(waiting.exchange->exceeded_share, true)) {
    ++parts_.stats.refused_share;
  }
  return user.blocked;
}

void ShardSet::RemoveOver() {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const auto at = it++;
    if (at->exchange->over()) Take(at);
  }
}

void ShardSet::RemoveDead() {
  for (auto it = shards_.begin(); it != shards_.end();) {
    if (it->second->dead()) {
      it = shards_.erase(it);
      host_.ReleaseConnection();
    } else {
      if (it->second->state() == Admission::State::kOpen) multiplexed_ = it->second->multiplexed();
      ++it;
    }
  }
}

Shard* ShardSet::Choose(const HttpRequest& request) const {
  Shard* best = nullptr;
  uint64_t best_weight = 0;
  // Not the token: that changes while the component stays.
  const uint64_t component = std::hash<std::string>()(request.user_agent);
  for (const auto& [id, shard] : shards_) {
    if (shard->room() == 0) continue;
    const uint64_t weight = Weight(component, id);
    if (best == nullptr || weight > best_weight) {
      best = shard.get();
      best_weight = weight;
    }
  }
  return best;
}

size_t ShardSet::PromisedRoom() const {
  if (!multiplexed_) return 0;
  size_t room = 0;
  for (const auto& [id, shard] : shards_) {
    if (shard->promising()) room += shard->cap() - 1;
  }
  return room;
}

size_t ShardSet::FreePlaces() const {
  size_t places = PromisedRoom();
  size_t cap = 1;
  for (const auto& [id, shard] : shards_) {
    places += shard->room();
    cap = std::max(cap, shard->cap());
  }
  if (shards_.empty()) cap = ShardCap(parts_.options);
  return places + host_.Grantable(*this) * (multiplexed_ ? cap : 1);
}

size_t ShardSet::Active() const {
  size_t active = 0;
  for (const auto& [id, shard] : shards_) active += shard->active();
  return active;
}

bool ShardSet::AcquireConnection() {
  if (host_.AcquireConnection(*this)) return true;
  wants_connection_ = true;
  ++parts_.stats.refused_connection;
  return false;
}

absl::Status ShardSet::Connect() {
  absl::StatusOr<std::shared_ptr<Shard>> shard = Shard::Create(parts_, *this);
  if (!shard.ok()) {
    host_.ReleaseConnection();
    return shard.status();
  }
  shards_.emplace(next_shard_++, *std::move(shard));
  return absl::OkStatus();
}

Shard* ShardSet::Idle() const {
  for (const auto& [id, shard] : shards_) {
    if (shard->idle()) return shard.get();
  }
  return nullptr;
}

void ShardSet::CloseIdle() {
  if (Shard* const shard = Idle()) {
    shard->Kill(absl::UnavailableError("the connection was idle, and others needed one"));
  }
}

void ShardSet::Shutdown(const absl::Status& status) {
  EndWaiting(status);
  for (const auto& [id, shard] : shards_) shard->Kill(status);
}

void ShardSet::Mute() {
  for (const Waiting& one : waiting_) one.exchange->Mute();
  for (const auto& [id, shard] : shards_) shard->Mute();
}

void ShardSet::Probe() {
  for (const auto& [id, shard] : shards_) shard->Probe();
}

void ShardSet::AddTo(HttpStats& stats) const {
  stats.waiting += waiting_.size();
  stats.connections += shards_.size();
  stats.active += Active();
}

}  // namespace mandate
