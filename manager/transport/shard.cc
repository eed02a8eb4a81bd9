#include "manager/transport/shard.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "manager/core/status_macros.h"
#include "manager/transport/probe_exchange.h"

namespace mandate {
namespace {

// A server that refuses a request so often is not asked any more.
constexpr int kMaxResends = 8;

}  // namespace

size_t ShardCap(const HttpOptions& options) {
  return std::max<size_t>(options.streams_per_connection, 2) - 1;
}

absl::StatusOr<std::shared_ptr<Shard>> Shard::Create(const ShardParts& parts, Owner& owner) {
  auto shard = std::shared_ptr<Shard>(new Shard(parts, owner));
  ASSIGN_OR_RETURN(shard->wire_, parts.new_wire(*shard));
  return shard;
}

Shard::Shard(const ShardParts& parts, Owner& owner)
    : parts_(parts),
      owner_(owner),
      admission_(ShardCap(parts.options)),
      liveness_(parts.loop,
                {.silence_limit = parts.options.silence_limit,
                 .probe_timeout = parts.options.probe_timeout},
                {.send_probe = [this] { return SendProbe(); },
                 .found_dead =
                     [this] {
                       ++parts_.stats.connections_lost;
                       const HttpOptions& options = parts_.options;
                       Kill(absl::UnavailableError(absl::StrCat(
                           exchanges_.empty() ? "the server"
                                              : exchanges_.front()->request().endpoint->server,
                           ": the connection brought nothing for ",
                           absl::FormatDuration(options.silence_limit + options.probe_timeout),
                           ", not even an answer to a probe, and was given up")));
                     }}) {}

Shard::~Shard() {
  for (const auto& exchange : exchanges_) exchange->SetCarrier(nullptr);
}

void Shard::Start(std::shared_ptr<Exchange> exchange) {
  assert(room() > 0);
  if (state() == Admission::State::kConnecting) {
    first_ = exchange.get();
    SetLifetime(parts_.options.patience, [this] {
      impatient_ = true;
      owner_.Changed();
    });
  } else if (idle_) {
    idle_ = false;
    lifetime_.reset();
  }
  admission_.Start();
  liveness_.Start();
  exchange->SetCarrier([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->ScheduleReap();
  });
  if (absl::Status status = wire_->Add(exchange); !status.ok()) {
    admission_.End(/*sent=*/false);
    Release(*exchange);
    exchange->End(std::move(status));
    Review();
    return;
  }
  exchanges_.push_back(std::move(exchange));
}

void Shard::OnSettled(std::vector<Wire::Over> over) {
  if (dead()) return;
  for (const Wire::Over& one : over) Finish(one);
  Flush();
  Review();
}

void Shard::Finish(const Wire::Over& over) {
  const WireResult& result = over.result;
  if (over.exchange == probing_) {
    probing_.reset();
    if (!result.sent) liveness_.ProbeNotSent();
    if (result.refused && !result.sent) {
      full_ = true;
      admission_.Refused();
    }
    return;
  }
  std::erase(exchanges_, over.exchange);
  Release(*over.exchange);
  if (result.refused) {
    full_ = true;
    // Sent and to be sent again: the wire puts nothing more on that connection.
    result.sent ? admission_.Drain() : admission_.Refused();
  }
  admission_.End(result.sent);
  if (result.unserved) over.exchange->NoteUnserved();
  if (over.exchange->over() || Return(over)) return;
  if (result.lost && over.exchange->TakeHeadAlone()) {
    over.exchange->End(absl::OkStatus());
    return;
  }
  over.exchange->End(result.status);
  if (!connected_ && !result.status.ok()) owner_.ConnectFailed(result.status);
}

bool Shard::Return(const Wire::Over& over) {
  Exchange& exchange = *over.exchange;
  const WireResult& result = over.result;
  const bool first = &exchange == first_;
  if (first) first_ = nullptr;
  if (!connected_ || !result.lost) return false;
  if (result.sent) {
    if (exchange.resends >= kMaxResends) return false;
    if (!result.unserved) {
      // Not a byte came back on a connection that had served others: it was closed while the
      // request was under way. Once, and only what may be served twice.
      if (result.heard || first || exchange.resent_blindly || exchange.request().method != "GET") {
        return false;
      }
      exchange.resent_blindly = true;
    }
    ++exchange.resends;
    ++parts_.stats.resends;
  }
  // What was not sent cannot come back for ever: each new connection takes one at least.
  owner_.TakeBack(over.exchange);
  return true;
}

void Shard::Release(Exchange& exchange) {
  exchange.SetCarrier(nullptr);
  owner_.Left(exchange);
}

void Shard::ScheduleReap() {
  if (reap_scheduled_) return;
  reap_scheduled_ = true;
  parts_.loop.Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Reap();
  });
}

void Shard::Reap() {
  reap_scheduled_ = false;
  bool overdue = false;
  std::erase_if(exchanges_, [this, &overdue](const auto& exchange) {
    if (!exchange->over()) return false;
    overdue = overdue || exchange->overdue();
    admission_.End(wire_->Remove(*exchange));
    Release(*exchange);
    return true;
  });
  if (overdue) NoteOverdue();
  Flush();
  Review();
}

void Shard::NoteOverdue() {
  // One that answers others is well; a server may be slow with one request.
  if (dead() || doubtful_ || liveness_.silence() < parts_.options.patience) return;
  doubtful_ = true;
  ++parts_.stats.connections_doubted;
  liveness_.Doubt();
  if (parts_.on_doubt) parts_.on_doubt();
}

void Shard::Probe() {
  if (liveness_.silence() >= parts_.options.patience) liveness_.Doubt();
}

void Shard::OnHeard() {
  liveness_.Heard();
  if (std::exchange(doubtful_, false)) owner_.Changed();
}

void Shard::Flush() {
  // Nothing else is on the connection: that it is closed says the same.
  if (!dead() && !wire_->Flush() && admission_.active() == 0) {
    Kill(absl::UnavailableError("the connection was closed"));
  }
}

void Shard::Review() {
  if (dead()) return;
  if (wire_->gone()) admission_.Drain();
  if (state() == Admission::State::kDraining && !draining_) {
    draining_ = true;
    ++parts_.stats.connections_drained;
  }
  if ((full_ || draining_) && !closing_) {
    closing_ = true;
    SetLifetime(parts_.options.drain_timeout, [this] {
      Kill(absl::UnavailableError("the connection took no more requests, and was closed at last"));
    });
  }
  if (admission_.active() == 0) {
    liveness_.Stop();
    if (state() != Admission::State::kOpen || doubtful_) {
      Kill(absl::UnavailableError("the connection was closed"));
      return;
    }
    if (!idle_) {
      idle_ = true;
      full_ = closing_ = false;
      SetLifetime(parts_.options.idle_timeout, [this] {
        Kill(absl::UnavailableError("the connection was idle, and was closed"));
      });
    }
  }
  owner_.Changed();
}

void Shard::SetLifetime(absl::Duration duration, Loop::Task end) {
  lifetime_ = parts_.loop.RunAt(parts_.loop.clock().TimeNow() + duration, std::move(end));
}

void Shard::Kill(const absl::Status& status) {
  if (dead()) return;
  admission_.Die();
  liveness_.Stop();
  lifetime_.reset();
  if (probing_ != nullptr) wire_->Remove(*std::exchange(probing_, nullptr));
  const std::vector<std::shared_ptr<Exchange>> exchanges = std::exchange(exchanges_, {});
  for (const auto& exchange : exchanges) {
    Release(*exchange);
    wire_->Remove(*exchange);
  }
  for (const auto& exchange : exchanges) exchange->End(status);
  owner_.Changed();
}

void Shard::Mute() {
  for (const auto& exchange : exchanges_) exchange->Mute();
}

bool Shard::SendProbe() {
  // A connection that drains takes no more requests, and HTTP/1.1 one at a time.
  const bool possible =
      connected_ && !exchanges_.empty() && multiplexed() && state() != Admission::State::kDraining;
  if (!possible) return false;
  // The last one may have been answered by half: that showed the connection alive, but then.
  if (probing_ != nullptr) wire_->Remove(*std::exchange(probing_, nullptr));
  // In the name of the newest that is still on the connection: a credential that was revoked has no
  // requests, and its 401 would come with a GOAWAY for all.
  auto probe = std::make_shared<ProbeExchange>(ProbeFor(exchanges_.back()->request()));
  if (!wire_->Add(probe).ok()) return false;
  probing_ = std::move(probe);
  ++parts_.stats.probes;
  return true;
}

void Shard::OnSent(Exchange& exchange) {
  connected_ = true;
  exchange.NoteSent();
  if (&exchange != probing_.get()) admission_.Sent();
  full_ = false;
  if (closing_ && !draining_) {
    closing_ = false;
    lifetime_.reset();
  }
}

void Shard::OnHead(bool multiplexed) {
  if (state() != Admission::State::kConnecting) return;
  admission_.HeadCame(multiplexed);
  closing_ = false;
  lifetime_.reset();
}

}  // namespace mandate
