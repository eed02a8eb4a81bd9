#include "manager/transport/shard_set.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace mandate {
namespace {

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
  for (const auto& exchange : waiting_) exchange->SetCarrier(nullptr);
}

absl::Status ShardSet::Submit(std::shared_ptr<Exchange> exchange) {
  if (waiting_.size() >= parts_.options.max_waiting) {
    ++parts_.stats.refused_waiting;
    return absl::ResourceExhaustedError(absl::StrCat(
        exchange->request().endpoint->server, ": ", waiting_.size(),
        " requests wait for a connection already, the most that may: send fewer at once"));
  }
  Enqueue(std::move(exchange), /*in_front=*/false);
  return absl::OkStatus();
}

void ShardSet::Enqueue(std::shared_ptr<Exchange> exchange, bool in_front) {
  // Pump() leaves out what is over.
  exchange->SetCarrier([this] { host_.WantsPump(*this); });
  if (in_front) {
    waiting_.push_front(std::move(exchange));
  } else {
    waiting_.push_back(std::move(exchange));
  }
  host_.WantsPump(*this);
}

void ShardSet::TakeBack(std::shared_ptr<Exchange> exchange) {
  Enqueue(std::move(exchange), /*in_front=*/true);
}

void ShardSet::ConnectFailed(const absl::Status& status) {
  // While another connection works, the others can wait for it.
  for (const auto& [id, shard] : shards_) {
    if (shard->state() == Admission::State::kOpen) return;
  }
  for (const auto& exchange : std::exchange(waiting_, {})) exchange->End(status);
}

void ShardSet::Pump() {
  wants_connection_ = false;
  RemoveDead();
  std::erase_if(waiting_, [](const auto& exchange) { return exchange->over(); });
  while (!waiting_.empty()) {
    if (Shard* const shard = Choose(waiting_.front()->request())) {
      shard->Start(TakeFirst());
    } else if (PromisedRoom() >= waiting_.size() || !OpenConnection()) {
      return;
    }
  }
}

std::shared_ptr<Exchange> ShardSet::TakeFirst() {
  std::shared_ptr<Exchange> exchange = std::move(waiting_.front());
  waiting_.pop_front();
  return exchange;
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
  // Not the token: that changes while the identity stays.
  const uint64_t identity = std::hash<std::string>()(request.user_agent);
  for (const auto& [id, shard] : shards_) {
    if (shard->room() == 0) continue;
    const uint64_t weight = Weight(identity, id);
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

bool ShardSet::OpenConnection() {
  if (!host_.AcquireConnection(*this)) {
    wants_connection_ = true;
    ++parts_.stats.refused_connection;
    return false;
  }
  absl::StatusOr<std::shared_ptr<Shard>> shard = Shard::Create(parts_, *this);
  if (!shard.ok()) {
    host_.ReleaseConnection();
    TakeFirst()->End(shard.status());
    return true;
  }
  shards_.emplace(next_shard_++, *std::move(shard));
  return true;
}

bool ShardSet::CloseIdle() {
  for (const auto& [id, shard] : shards_) {
    if (!shard->idle()) continue;
    shard->Kill(absl::UnavailableError("the connection was idle, and others needed one"));
    return true;
  }
  return false;
}

void ShardSet::Shutdown(const absl::Status& status) {
  for (const auto& exchange : std::exchange(waiting_, {})) exchange->End(status);
  for (const auto& [id, shard] : shards_) shard->Kill(status);
}

void ShardSet::Mute() {
  for (const auto& exchange : waiting_) exchange->Mute();
  for (const auto& [id, shard] : shards_) shard->Mute();
}

void ShardSet::AddTo(HttpStats& stats) const {
  stats.waiting += waiting_.size();
  stats.connections += shards_.size();
  for (const auto& [id, shard] : shards_) stats.active += shard->active();
}

}  // namespace mandate
