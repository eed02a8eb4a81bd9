#include "manager/transport/connection.h"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "manager/core/status_macros.h"

namespace mandate {
namespace {

// After this many refusals by servers a request is not sent again.
constexpr int kMaxResends = 8;

// Any response shows life, also an error. Its content is ignored. Loop thread only.
class ActiveProbe : public ActiveRequest {
 public:
  using ActiveRequest::ActiveRequest;
  bool OnHeaders(const HttpResponse&) override { return true; }
  bool OnBody(std::string_view) override { return true; }

 private:
  void OnEnd(absl::Status) override {}
};

// GET /livez with the credential and the user agent of `request`.
HttpRequest ProbeFor(const HttpRequest& request) {
  HttpRequest probe(request.endpoint, request.credential, "GET", "/livez");
  probe.user_agent = request.user_agent;
  probe.accept = "*/*";
  probe.headers = request.headers;
  return probe;
}

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
          {.read_idle_timeout = context.options.read_idle_timeout,
           .probe_timeout = context.options.probe_timeout},
          {.send_probe = [this] { return SendProbe(); },
           .found_dead =
               [this] {
                 ++context_.stats.connections_lost;
                 const HttpOptions& options = context_.options;
                 Kill(absl::UnavailableError(absl::StrCat(
                     active_.empty() ? "the server" : active_.front()->request().endpoint->server,
                     ": the connection received no data for ",
                     absl::FormatDuration(options.read_idle_timeout + options.probe_timeout),
                     ", not even a response to a probe, and was closed")));
               }}) {}

Connection::~Connection() {
  for (const auto& active : active_) active->SetOnDrop(nullptr);
}

void Connection::Start(std::shared_ptr<ActiveRequest> active) {
  assert(free_capacity() > 0);
  if (state() == StreamLimiter::State::kConnecting) {
    first_ = active.get();
    Enter(Phase::kConnecting);
  } else if (phase_ == Phase::kIdle) {
    Enter(Phase::kBusy);
  }
  limiter_.Start();
  keepalive_.Start();
  active->SetOnDrop([weak = weak_from_this()] {
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

void Connection::OnCompleted(std::vector<ClientCodec::Completion> completions) {
  if (dead()) return;
  for (const ClientCodec::Completion& completion : completions) Finish(completion);
  Flush();
  Review();
}

void Connection::Finish(const ClientCodec::Completion& completion) {
  const TransferResult& result = completion.result;
  ActiveRequest& active = *completion.active;
  if (completion.active == probing_) {
    probing_.reset();
    if (!result.sent) keepalive_.ProbeNotSent();
    if (result.refused && !result.sent) {
      NoteFull();
      limiter_.Refused();
    }
    return;
  }
  std::erase(active_, completion.active);
  Release(active);
  if (result.refused) {
    NoteFull();
    // The codec sends no more requests on a connection that refused one after it was sent.
    result.sent ? limiter_.Drain() : limiter_.Refused();
  }
  limiter_.End(result.sent);
  if (result.unprocessed) active.MarkUnprocessed();
  if (active.ended() || Return(completion)) return;
  if (result.lost && active.AcceptTruncatedResponse()) {
    active.End(absl::OkStatus());
    return;
  }
  active.End(result.status);
  if (!connected_ && !result.status.ok()) owner_.ConnectFailed(result.status);
}

bool Connection::Return(const ClientCodec::Completion& completion) {
  ActiveRequest& active = *completion.active;
  const TransferResult& result = completion.result;
  const bool first = &active == first_;
  if (first) first_ = nullptr;
  if (!connected_ || !result.lost) return false;
  if (result.sent) {
    if (active.resends >= kMaxResends) return false;
    if (!result.unprocessed) {
      // No byte came back on a connection that had served other requests: it was closed after this
      // request was sent. Only a GET may be served twice. It is sent again once.
      if (result.received || first || active.resent_unverified ||
          active.request().method != "GET") {
        return false;
      }
      active.resent_unverified = true;
    }
    ++active.resends;
    ++context_.stats.resends;
  }
  // A request that was not sent cannot return for ever, because each new connection takes at least
  // one.
  owner_.Requeue(completion.active);
  return true;
}

void Connection::Release(ActiveRequest& active) {
  active.SetOnDrop(nullptr);
  owner_.OnRequestRemoved(active);
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
  bool timed_out = false;
  std::erase_if(active_, [this, &timed_out](const auto& active) {
    if (!active->ended()) return false;
    timed_out = timed_out || active->timed_out();
    limiter_.End(codec_->Remove(*active));
    Release(*active);
    return true;
  });
  if (timed_out) NoteTimeout();
  Flush();
  Review();
}

void Connection::NoteTimeout() {
  // A connection that brings data for other requests works. The server may be slow with one
  // request.
  if (dead() || is_suspect_ || keepalive_.silence() < context_.options.suspect_connection_after)
    return;
  is_suspect_ = true;
  ++context_.stats.connections_suspected;
  keepalive_.Suspect();
  if (context_.on_suspect) context_.on_suspect();
}

void Connection::Probe() {
  if (keepalive_.silence() >= context_.options.suspect_connection_after) keepalive_.Suspect();
}

void Connection::OnReceived() {
  keepalive_.NoteReceived();
  if (std::exchange(is_suspect_, false)) owner_.OnCapacityChanged();
}

void Connection::Flush() {
  // The connection has no other requests, so closing it tells the server.
  if (!dead() && !codec_->Flush() && limiter_.active() == 0) {
    Kill(absl::UnavailableError("the connection was closed"));
  }
}

void Connection::Review() {
  if (dead()) return;
  if (codec_->closed()) limiter_.Drain();
  if (state() == StreamLimiter::State::kDraining && phase_ != Phase::kDraining) {
    ++context_.stats.connections_drained;
    Enter(Phase::kDraining);
  }
  if (limiter_.active() == 0) {
    keepalive_.Stop();
    if (state() != StreamLimiter::State::kOpen || is_suspect_) {
      Kill(absl::UnavailableError("the connection was closed"));
      return;
    }
    if (phase_ != Phase::kIdle) Enter(Phase::kIdle);
  }
  owner_.OnCapacityChanged();
}

void Connection::Enter(Phase phase) {
  const Phase last = std::exchange(phase_, phase);
  switch (phase) {
    case Phase::kConnecting:
      phase_timer_ = context_.loop.RunAt(
          context_.loop.clock().TimeNow() + context_.options.suspect_connection_after, [this] {
            Enter(Phase::kBusy);
            owner_.OnCapacityChanged();
          });
      return;
    case Phase::kBusy:
      phase_timer_.reset();
      return;
    case Phase::kFull:
    case Phase::kDraining:
      if (last == Phase::kFull) return;  // its timer runs
      return KillAfter(context_.options.drain_timeout,
                       "the connection was draining and reached its time limit");
    case Phase::kIdle:
      return KillAfter(context_.options.idle_timeout, "the connection was idle and was closed");
  }
}

void Connection::KillAfter(absl::Duration duration, const char* why) {
  phase_timer_ = context_.loop.RunAt(context_.loop.clock().TimeNow() + duration,
                                     [this, why] { Kill(absl::UnavailableError(why)); });
}

void Connection::NoteFull() {
  if (phase_ == Phase::kBusy || phase_ == Phase::kConnecting) Enter(Phase::kFull);
}

void Connection::Kill(const absl::Status& status) {
  if (dead()) return;
  limiter_.Die();
  keepalive_.Stop();
  phase_timer_.reset();
  if (probing_ != nullptr) codec_->Remove(*std::exchange(probing_, nullptr));
  const std::vector<std::shared_ptr<ActiveRequest>> requests = std::exchange(active_, {});
  for (const auto& active : requests) {
    Release(*active);
    codec_->Remove(*active);
  }
  for (const auto& active : requests) active->End(status);
  owner_.OnCapacityChanged();
}

void Connection::SilenceStreams() {
  for (const auto& active : active_) active->SilenceIfStream();
}

bool Connection::SendProbe() {
  // A connection that drains takes no more requests, and HTTP/1.1 takes one at a time.
  const bool possible =
      connected_ && !active_.empty() && multiplexed() && state() != StreamLimiter::State::kDraining;
  if (!possible) return false;
  // The last probe may have got half a response, which showed life at that time only.
  if (probing_ != nullptr) codec_->Remove(*std::exchange(probing_, nullptr));
  // With the credential of the newest request on the connection: a revoked credential has none, and
  // its 401 would come with a GOAWAY for all.
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
  if (phase_ == Phase::kFull) Enter(Phase::kBusy);
}

void Connection::OnHeaders(bool multiplexed) {
  if (state() != StreamLimiter::State::kConnecting) return;
  limiter_.HeadCame(multiplexed);
  if (phase_ == Phase::kConnecting) Enter(Phase::kBusy);
}

}  // namespace mandate
