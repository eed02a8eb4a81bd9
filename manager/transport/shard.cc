#include "manager/transport/shard.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "manager/core/status_macros.h"
#include "manager/transport/curl_error.h"
#include "manager/transport/probe_exchange.h"

namespace mandate {
namespace {

// A server that refuses a request so often is not asked any more.
constexpr int kMaxResends = 8;

bool IsEstablished(curl_socket_t socket) {
  tcp_info info = {};
  socklen_t size = sizeof info;
  return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         info.tcpi_state == TCP_ESTABLISHED;
}

size_t CapOf(const HttpOptions& options) {
  return std::max<size_t>(options.streams_per_connection, 2) - 1;
}

uint32_t EpollEvents(int what) {
  return (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
}

int CurlEvents(uint32_t events) {
  return (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
         (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
}

}  // namespace

absl::StatusOr<std::shared_ptr<Shard>> Shard::Create(EventLoop& loop, const HttpOptions& options,
                                                     HttpStats& stats, Owner& owner) {
  auto shard = std::shared_ptr<Shard>(new Shard(loop, options, stats, owner));
  RETURN_IF_ERROR(shard->SetUp());
  return shard;
}

Shard::Shard(EventLoop& loop, const HttpOptions& options, HttpStats& stats, Owner& owner)
    : loop_(loop),
      options_(options),
      stats_(stats),
      owner_(owner),
      admission_(CapOf(options)),
      liveness_(loop,
                {.silence_limit = options.silence_limit, .probe_timeout = options.probe_timeout},
                {.send_probe = [this] { return SendProbe(); },
                 .found_dead =
                     [this] {
                       ++stats_.connections_lost;
                       Kill(absl::UnavailableError(absl::StrCat(
                           probe_.has_value() ? probe_->endpoint->server : "the server",
                           ": the connection brought nothing for ",
                           absl::FormatDuration(options_.silence_limit + options_.probe_timeout),
                           ", not even an answer to a probe, and was given up")));
                     }}),
      multi_(curl_multi_init()) {}

absl::Status Shard::SetUp() {
  if (multi_ == nullptr) return absl::ResourceExhaustedError("out of memory for a connection");
  CURLM* const multi = multi_.get();
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS,
                    static_cast<long>(options_.streams_per_connection));
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, OnSocket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, OnTimeout);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
  return absl::OkStatus();
}

Shard::~Shard() {
  if (multi_ == nullptr) return;
  // The loop may be over: libcurl must set no more timers and watches.
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, nullptr);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, nullptr);
  watches_.clear();
  while (!transfers_.empty()) Remove(transfers_.begin()->first);
  multi_.reset();
}

void Shard::Start(std::shared_ptr<Exchange> exchange) {
  assert(room() > 0);
  if (state() == Admission::State::kConnecting) {
    first_ = exchange.get();
    SetLifetime(options_.patience, [this] {
      impatient_ = true;
      owner_.Changed();
    });
  } else if (idle_) {
    idle_ = false;
    lifetime_.reset();
  }
  admission_.Start();
  probe_.emplace(ProbeFor(exchange->request()));
  liveness_.Start();
  exchange->SetCarrier([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->ScheduleReap();
  });
  if (absl::Status status = Add(exchange); !status.ok()) {
    admission_.End(/*sent=*/false);
    exchange->End(std::move(status));
    Review();
  }
}

absl::Status Shard::Add(std::shared_ptr<Exchange> exchange) {
  ASSIGN_OR_RETURN(
      std::unique_ptr<Transfer> transfer,
      Transfer::Create(std::move(exchange), *this, options_, loop_.clock().WallTimeNow()));
  CURL* const easy = transfer->easy();
  if (const CURLMcode code = curl_multi_add_handle(multi_.get(), easy); code != CURLM_OK) {
    return absl::InternalError(
        absl::StrCat("libcurl takes no request: ", curl_multi_strerror(code)));
  }
  transfers_.emplace(easy, std::move(transfer));
  return absl::OkStatus();
}

std::unique_ptr<Transfer> Shard::Remove(CURL* easy) {
  auto node = transfers_.extract(easy);
  if (node.empty()) return nullptr;
  node.mapped()->exchange()->SetCarrier(nullptr);
  curl_multi_remove_handle(multi_.get(), easy);
  return std::move(node.mapped());
}

int Shard::OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  static_cast<Shard*>(self)->WatchSocket(fd, what);
  return 0;
}

void Shard::WatchSocket(curl_socket_t fd, int what) {
  if (what == CURL_POLL_REMOVE) {
    watches_.erase(fd);
    return;
  }
  if (const auto it = watches_.find(fd); it != watches_.end()) {
    it->second->SetEvents(EpollEvents(what));
    return;
  }
  auto watch = loop_.WatchFd(fd, EpollEvents(what),
                             [this, fd](uint32_t events) { Act(fd, CurlEvents(events)); });
  if (watch.ok()) {
    watches_.emplace(fd, *std::move(watch));
    return;
  }
  loop_.Post([weak = weak_from_this(), status = watch.status()] {
    if (const auto self = weak.lock()) self->Kill(status);
  });
}

int Shard::OnTimeout(CURLM*, long milliseconds, void* self_pointer) {
  Shard& self = *static_cast<Shard*>(self_pointer);
  if (milliseconds < 0) {
    self.timeout_.reset();
  } else {
    self.timeout_ =
        self.loop_.RunAt(self.loop_.clock().TimeNow() + absl::Milliseconds(milliseconds),
                         [&self] { self.Act(CURL_SOCKET_TIMEOUT, 0); });
  }
  return 0;
}

void Shard::Act(curl_socket_t fd, int events) {
  int running = 0;
  curl_multi_socket_action(multi_.get(), fd, events, &running);
  Settle();
}

void Shard::Settle() {
  std::vector<std::pair<CURL*, CURLcode>> over;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg == CURLMSG_DONE) {
      over.emplace_back(message->easy_handle, message->data.result);
    }
  }
  if (over.empty() && !changed_) return;
  changed_ = false;
  for (const auto& [easy, code] : over) Finish(easy, code);
  FlushResets();
  Review();
}

void Shard::Finish(CURL* easy, CURLcode code) {
  const std::unique_ptr<Transfer> transfer = Remove(easy);
  if (transfer == nullptr) return;
  transfer->Conclude(code);
  const std::shared_ptr<Exchange> exchange = transfer->exchange();
  if (exchange == probing_) {
    probing_.reset();
    if (!transfer->sent()) liveness_.ProbeNotSent();
    if (transfer->refused() && !transfer->sent()) {
      full_ = true;
      admission_.Refused();
    }
    return;
  }
  unflushed_ = unflushed_ || (transfer->sent() && code != CURLE_OK);
  if (transfer->refused()) {
    full_ = true;
    // Sent and to be sent again: libcurl puts nothing more on that connection.
    transfer->sent() ? admission_.Drain() : admission_.Refused();
  }
  admission_.End(transfer->sent());
  if (exchange->over()) return;
  stats_.refused_too_large += transfer->header_too_large();
  if (Return(*transfer, code)) return;
  const absl::Status status = code == CURLE_OK ? absl::OkStatus() : transfer->StatusOf(code);
  exchange->End(status);
  if (!connected_ && !status.ok()) owner_.ConnectFailed(status);
}

bool Shard::Return(const Transfer& transfer, CURLcode code) {
  Exchange& exchange = *transfer.exchange();
  const bool first = &exchange == first_;
  if (first) first_ = nullptr;
  if (!connected_ || !IsConnectionError(code)) return false;
  if (transfer.sent()) {
    if (exchange.resends >= kMaxResends) return false;
    if (!transfer.unserved()) {
      // Not a byte came back on a connection that had served others: it was closed while the
      // request was under way. Once, and only what may be served twice.
      if (transfer.heard() || first || exchange.resent_blindly ||
          exchange.request().method != "GET") {
        return false;
      }
      exchange.resent_blindly = true;
    }
    ++exchange.resends;
    ++stats_.resends;
  }
  // What was not sent cannot come back for ever: each new connection takes one at least.
  owner_.TakeBack(transfer.exchange());
  return true;
}

void Shard::ScheduleReap() {
  if (reap_scheduled_) return;
  reap_scheduled_ = true;
  loop_.Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Reap();
  });
}

void Shard::Reap() {
  reap_scheduled_ = false;
  std::vector<CURL*> over;
  for (const auto& [easy, transfer] : transfers_) {
    if (transfer->exchange()->over()) over.push_back(easy);
  }
  for (CURL* easy : over) {
    const bool sent = Remove(easy)->sent();
    admission_.End(sent);
    unflushed_ = unflushed_ || sent;
  }
  FlushResets();
  Review();
}

void Shard::FlushResets() {
  // libcurl 7.88 leaves RST_STREAM in a buffer until something else is written to the connection,
  // and the server goes on serving a watch that nobody reads. Pausing the sending side of another
  // request, which has nothing more to send, and resuming it writes the buffer out; it does not
  // touch the receiving side, whose pause would have libcurl hoard data.
  if (!std::exchange(unflushed_, false) || dead()) return;
  for (const auto& [easy, transfer] : transfers_) {
    if (transfer->sent() && curl_easy_pause(easy, CURLPAUSE_SEND) == CURLE_OK) {
      curl_easy_pause(easy, CURLPAUSE_CONT);
      return;
    }
  }
  // Nothing else is on the connection: that it is closed says the same.
  if (admission_.active() == 0) Kill(absl::UnavailableError("the connection was closed"));
}

void Shard::Review() {
  changed_ = false;
  if (dead()) return;
  if (connected_ && sockets_.empty()) admission_.Drain();
  if (state() == Admission::State::kDraining && !draining_) {
    draining_ = true;
    ++stats_.connections_drained;
  }
  if ((full_ || draining_) && !closing_) {
    closing_ = true;
    SetLifetime(options_.drain_timeout, [this] {
      Kill(absl::UnavailableError("the connection took no more requests, and was closed at last"));
    });
  }
  if (admission_.active() == 0) {
    liveness_.Stop();
    if (state() != Admission::State::kOpen) {
      Kill(absl::UnavailableError("the connection was closed"));
      return;
    }
    if (!idle_) {
      idle_ = true;
      closing_ = false;
      probe_.reset();
      SetLifetime(options_.idle_timeout, [this] {
        Kill(absl::UnavailableError("the connection was idle, and was closed"));
      });
    }
  }
  owner_.Changed();
}

void Shard::SetLifetime(absl::Duration duration, Loop::Task end) {
  lifetime_ = loop_.RunAt(loop_.clock().TimeNow() + duration, std::move(end));
}

void Shard::Kill(const absl::Status& status) {
  if (dead()) return;
  admission_.Die();
  liveness_.Stop();
  lifetime_.reset();
  probing_.reset();
  std::vector<std::shared_ptr<Exchange>> exchanges;
  while (!transfers_.empty()) {
    exchanges.push_back(Remove(transfers_.begin()->first)->exchange());
  }
  timeout_.reset();
  for (const auto& exchange : exchanges) exchange->End(status);
  owner_.Changed();
}

void Shard::Mute() {
  for (const auto& [easy, transfer] : transfers_) transfer->exchange()->Mute();
}

bool Shard::SendProbe() {
  // A connection that drains takes no more requests, and HTTP/1.1 one at a time.
  const bool possible = connected_ && probing_ == nullptr && probe_.has_value() && multiplexed() &&
                        state() != Admission::State::kDraining;
  if (!possible) return false;
  auto probe = std::make_shared<ProbeExchange>(*probe_);
  if (!Add(probe).ok()) return false;
  probing_ = std::move(probe);
  ++stats_.probes;
  return true;
}

void Shard::OnSent(const Transfer& transfer) {
  connected_ = true;
  if (transfer.exchange() != probing_) admission_.Sent();
  full_ = false;
  if (closing_ && !draining_) {
    closing_ = false;
    lifetime_.reset();
  }
}

void Shard::OnHead(bool multiplexed) {
  if (state() != Admission::State::kConnecting) return;
  admission_.HeadCame(multiplexed);
  lifetime_.reset();
  changed_ = true;
}

bool Shard::MayOpenSocket() { return !connected_; }

void Shard::OnSocketOpened(curl_socket_t socket) {
  sockets_.insert(socket);
  ++stats_.sockets_opened;
}

void Shard::OnSocketClosing(curl_socket_t socket) {
  peer_was_up_ = IsEstablished(socket);
  sockets_.erase(socket);
  changed_ = true;
}

bool Shard::PeerIsUp() const {
  return sockets_.empty() ? peer_was_up_
                          : std::all_of(sockets_.begin(), sockets_.end(), IsEstablished);
}

}  // namespace mandate
