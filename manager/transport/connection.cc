#include "manager/transport/connection.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "manager/core/status_macros.h"
#include "manager/transport/active_probe.h"

namespace mandate {
namespace {

// A server that refuses a request so often is not asked any more.
constexpr int kMaxResends = 8;

}  // namespace

size_t StreamCap(const HttpOptions& options) {
  return std::max<size_t>(options.streams_per_connection, 2) - 1;
}

absl::StatusOr<std::shared_ptr<Connection>> Connection::Create(const ConnectionContext& context,
                                                               Owner& owner) {
  auto connection = std::shared_ptr<Connection>(new Connection(context, owner));
  ASSIGN_OR_RETURN(connection->codec_, context.new_codec(*connection));
  return connection;
}

Connection::Connection(const ConnectionContext& context, Owner& owner)
    : context_(context),
      owner_(owner),
      limiter_(StreamCap(context.options)),
      keepalive_(
          context.loop,
          {.silence_limit = context.options.silence_limit,
           .probe_timeout = context.options.probe_timeout},
          {.send_probe = [this] { return SendProbe(); },
           .found_dead =
               [this] {
                 ++context_.stats.connections_lost;
                 const HttpOptions& options = context_.options;
                 Kill(absl::UnavailableError(absl::StrCat(
                     active_.empty() ? "the server" : active_.front()->request().endpoint->server,
                     ": the connection brought nothing for ",
                     absl::FormatDuration(options.silence_limit + options.probe_timeout),
                     ", not even an answer to a probe, and was given up")));
               }}) {}

Connection::~Connection() {
  for (const auto& active : active_) active->SetCarrier(nullptr);
}

void Connection::Start(std::shared_ptr<ActiveRequest> active) {
  assert(room() > 0);
  if (state() == StreamLimiter::State::kConnecting) {
    first_ = active.get();
    SetLifetime(context_.options.patience, [this] {
      impatient_ = true;
      owner_.Changed();
    });
  } else if (idle_) {
    idle_ = false;
    lifetime_.reset();
  }
  limiter_.Start();
  keepalive_.Start();
  active->SetCarrier([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->ScheduleReap();
  });
  if (absl::Status status = codec_->Add(active); !status.ok()) {
    limiter_.End(/*sent=*/false);
    Release(*active);
    active->End(std::move(status));
    Review();
    return;
  }
  active_.push_back(std::move(active));
}

void Connection::OnSettled(std::vector<ClientCodec::Completion> over) {
  if (dead()) return;
  for (const ClientCodec::Completion& one : over) Finish(one);
  Flush();
  Review();
}

void Connection::Finish(const ClientCodec::Completion& over) {
  const TransferResult& result = over.result;
  if (over.active == probing_) {
    probing_.reset();
    if (!result.sent) keepalive_.ProbeNotSent();
    if (result.refused && !result.sent) {
      full_ = true;
      limiter_.Refused();
    }
    return;
  }
  std::erase(active_, over.active);
  Release(*over.active);
  if (result.refused) {
    full_ = true;
    // Sent and to be sent again: the codec puts nothing more on that connection.
    result.sent ? limiter_.Drain() : limiter_.Refused();
  }
  limiter_.End(result.sent);
  if (result.unserved) over.active->NoteUnserved();
  if (over.active->ended() || Return(over)) return;
  if (result.lost && over.active->TakeHeadAlone()) {
    over.active->End(absl::OkStatus());
    return;
  }
  over.active->End(result.status);
  if (!connected_ && !result.status.ok()) owner_.ConnectFailed(result.status);
}

bool Connection::Return(const ClientCodec::Completion& over) {
  ActiveRequest& active = *over.active;
  const TransferResult& result = over.result;
  const bool first = &active == first_;
  if (first) first_ = nullptr;
  if (!connected_ || !result.lost) return false;
  if (result.sent) {
    if (active.resends >= kMaxResends) return false;
    if (!result.unserved) {
      // Not a byte came back on a connection that had served others: it was closed while the
      // request was under way. Once, and only what may be served twice.
      if (result.heard || first || active.resent_blindly || active.request().method != "GET") {
        return false;
      }
      active.resent_blindly = true;
    }
    ++active.resends;
    ++context_.stats.resends;
  }
  // What was not sent cannot come back for ever: each new connection takes one at least.
  owner_.Requeue(over.active);
  return true;
}

void Connection::Release(ActiveRequest& active) {
  active.SetCarrier(nullptr);
  owner_.Left(active);
}

void Connection::ScheduleReap() {
  if (reap_scheduled_) return;
  reap_scheduled_ = true;
  context_.loop.Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Reap();
  });
}

void Connection::Reap() {
  reap_scheduled_ = false;
  bool overdue = false;
  std::erase_if(active_, [this, &overdue](const auto& active) {
    if (!active->ended()) return false;
    overdue = overdue || active->overdue();
    limiter_.End(codec_->Remove(*active));
    Release(*active);
    return true;
  });
  if (overdue) NoteOverdue();
  Flush();
  Review();
}

void Connection::NoteOverdue() {
  // One that answers others is well; a server may be slow with one request.
  if (dead() || doubtful_ || keepalive_.silence() < context_.options.patience) return;
  doubtful_ = true;
  ++context_.stats.connections_doubted;
  keepalive_.Doubt();
  if (context_.on_doubt) context_.on_doubt();
}

void Connection::Probe() {
  if (keepalive_.silence() >= context_.options.patience) keepalive_.Doubt();
}

void Connection::OnHeard() {
  keepalive_.Heard();
  if (std::exchange(doubtful_, false)) owner_.Changed();
}

void Connection::Flush() {
  // Nothing else is on the connection: that it is closed says the same.
  if (!dead() && !codec_->Flush() && limiter_.active() == 0) {
    Kill(absl::UnavailableError("the connection was closed"));
  }
}

void Connection::Review() {
  if (dead()) return;
  if (codec_->gone()) limiter_.Drain();
  if (state() == StreamLimiter::State::kDraining && !draining_) {
    draining_ = true;
    ++context_.stats.connections_drained;
  }
  if ((full_ || draining_) && !closing_) {
    closing_ = true;
    SetLifetime(context_.options.drain_timeout, [this] {
      Kill(absl::UnavailableError("the connection took no more requests, and was closed at last"));
    });
  }
  if (limiter_.active() == 0) {
    keepalive_.Stop();
    if (state() != StreamLimiter::State::kOpen || doubtful_) {
      Kill(absl::UnavailableError("the connection was closed"));
      return;
    }
    if (!idle_) {
      idle_ = true;
      full_ = closing_ = false;
      SetLifetime(context_.options.idle_timeout, [this] {
        Kill(absl::UnavailableError("the connection was idle, and was closed"));
      });
    }
  }
  owner_.Changed();
}

void Connection::SetLifetime(absl::Duration duration, Loop::Task end) {
  lifetime_ = context_.loop.RunAt(context_.loop.clock().TimeNow() + duration, std::move(end));
}

void Connection::Kill(const absl::Status& status) {
  if (dead()) return;
  limiter_.Die();
  keepalive_.Stop();
  lifetime_.reset();
  if (probing_ != nullptr) codec_->Remove(*std::exchange(probing_, nullptr));
  const std::vector<std::shared_ptr<ActiveRequest>> requests = std::exchange(active_, {});
  for (const auto& active : requests) {
    Release(*active);
    codec_->Remove(*active);
  }
  for (const auto& active : requests) active->End(status);
  owner_.Changed();
}

void Connection::Silence() {
  for (const auto& active : active_) active->Silence();
}

bool Connection::SendProbe() {
  // A connection that drains takes no more requests, and HTTP/1.1 one at a time.
  const bool possible =
      connected_ && !active_.empty() && multiplexed() && state() != StreamLimiter::State::kDraining;
  if (!possible) return false;
  // The last one may have been answered by half: that showed the connection alive, but then.
  if (probing_ != nullptr) codec_->Remove(*std::exchange(probing_, nullptr));
  // In the name of the newest that is still on the connection: a credential that was revoked has no
  // requests, and its 401 would come with a GOAWAY for all.
  auto probe = std::make_shared<ActiveProbe>(ProbeFor(active_.back()->request()));
  if (!codec_->Add(probe).ok()) return false;
  probing_ = std::move(probe);
  ++context_.stats.probes;
  return true;
}

void Connection::OnSent(ActiveRequest& active) {
  connected_ = true;
  active.NoteSent();
  if (&active != probing_.get()) limiter_.Sent();
  full_ = false;
  if (closing_ && !draining_) {
    closing_ = false;
    lifetime_.reset();
  }
}

void Connection::OnHead(bool multiplexed) {
  if (state() != StreamLimiter::State::kConnecting) return;
  limiter_.HeadCame(multiplexed);
  closing_ = false;
  lifetime_.reset();
}

}  // namespace mandate
