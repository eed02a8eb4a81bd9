#include "manager/transport/curl_codec.h"

#include <sys/epoll.h>

#include <cassert>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "manager/core/status_macros.h"
#include "manager/transport/curl_error.h"
#include "manager/transport/curl_support.h"

namespace mandate {
namespace {

uint32_t EpollEvents(int what) {
  return (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
}

int CurlEvents(uint32_t events) {
  return (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
         (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ClientCodec>> CurlCodec::Create(EventLoop& loop,
                                                               const HttpOptions& options,
                                                               HttpStats& stats,
                                                               ClientCodec::Observer& observer) {
  auto codec = std::unique_ptr<CurlCodec>(new CurlCodec(loop, options, stats, observer));
  RETURN_IF_ERROR(codec->SetUp());
  return codec;
}

CurlCodec::CurlCodec(EventLoop& loop, const HttpOptions& options, HttpStats& stats,
                     ClientCodec::Observer& observer)
    : loop_(loop),
      options_(options),
      tested_(CurlSupport{options.curl_version}.tested()),
      stats_(stats),
      observer_(observer),
      multi_(curl_multi_init()) {}

absl::Status CurlCodec::SetUp() {
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

CurlCodec::~CurlCodec() {
  if (multi_ == nullptr) return;
  // The loop may have ended: libcurl must not set timers and watches any more.
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, nullptr);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, nullptr);
  watches_.clear();
  while (!transfers_.empty()) Take(transfers_.begin()->first);
  multi_.reset();
}

absl::Status CurlCodec::Add(std::shared_ptr<ActiveRequest> active) {
  // An untested libcurl may send a request without reporting it, so the request counts as sent.
  if (!tested_) active->NoteSent();
  const ActiveRequest* const key = active.get();
  ASSIGN_OR_RETURN(
      std::unique_ptr<Transfer> transfer,
      Transfer::Create(std::move(active), *this, options_, loop_.clock().WallTimeNow()));
  CURL* const easy = transfer->easy();
  if (const CURLMcode code = curl_multi_add_handle(multi_.get(), easy); code != CURLM_OK) {
    return absl::InternalError(
        absl::StrCat("libcurl rejects the request: ", curl_multi_strerror(code)));
  }
  transfers_.emplace(easy, std::move(transfer));
  by_request_.emplace(key, easy);
  return absl::OkStatus();
}

bool CurlCodec::Remove(const ActiveRequest& active) {
  const auto found = by_request_.find(&active);
  assert(found != by_request_.end());
  const bool sent = Take(found->second)->sent();
  unflushed_ = unflushed_ || sent;
  return sent;
}

std::unique_ptr<Transfer> CurlCodec::Take(CURL* easy) {
  auto node = transfers_.extract(easy);
  if (node.empty()) return nullptr;
  by_request_.erase(node.mapped()->active().get());
  curl_multi_remove_handle(multi_.get(), easy);
  return std::move(node.mapped());
}

int CurlCodec::OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  static_cast<CurlCodec*>(self)->WatchSocket(fd, what);
  return 0;
}

void CurlCodec::WatchSocket(curl_socket_t fd, int what) {
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
  loop_.Post(weak_.Bind([this, status = watch.status()] { observer_.OnConnectionError(status); }));
}

int CurlCodec::OnTimeout(CURLM*, long milliseconds, void* self_pointer) {
  CurlCodec& self = *static_cast<CurlCodec*>(self_pointer);
  if (milliseconds < 0) {
    self.timeout_.reset();
  } else {
    self.timeout_ =
        self.loop_.RunAt(self.loop_.clock().TimeNow() + absl::Milliseconds(milliseconds),
                         [&self] { self.Act(CURL_SOCKET_TIMEOUT, 0); });
  }
  return 0;
}

void CurlCodec::Act(curl_socket_t fd, int events) {
  int running = 0;
  curl_multi_socket_action(multi_.get(), fd, events, &running);
  Settle();
}

void CurlCodec::Settle() {
  std::vector<std::pair<CURL*, CURLcode>> messages;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg == CURLMSG_DONE) {
      messages.emplace_back(message->easy_handle, message->data.result);
    }
  }
  if (messages.empty() && !changed_) return;
  changed_ = false;
  std::vector<Completion> over;
  for (const auto& [easy, code] : messages) {
    const std::unique_ptr<Transfer> transfer = Take(easy);
    if (transfer == nullptr) continue;
    TransferResult result = ResultOf(*transfer, code);
    over.push_back({transfer->active(), std::move(result)});
  }
  observer_.OnCompleted(std::move(over));
}

TransferResult CurlCodec::ResultOf(Transfer& transfer, CURLcode code) {
  transfer.OnTransferDone(code);
  unflushed_ = unflushed_ || (transfer.sent() && code != CURLE_OK);
  stats_.limited_too_large += transfer.header_too_large();
  return {.status = code == CURLE_OK ? absl::OkStatus() : transfer.StatusOf(code),
          .sent = transfer.sent(),
          .received = transfer.received(),
          .refused = transfer.refused(),
          .unprocessed = tested_ && transfer.unprocessed(),
          .lost = IsConnectionError(code)};
}

bool CurlCodec::Flush() {
  // libcurl 7.88 keeps RST_STREAM in a buffer until other bytes are written to the connection.
  // Until then the server still serves a watch that no client reads. To flush the buffer, another
  // request pauses and resumes its sending side, on which no bytes are left. The receiving side
  // must not be paused, because libcurl would store data without a bound.
  if (!std::exchange(unflushed_, false)) return true;
  for (const auto& [easy, transfer] : transfers_) {
    if (transfer->sent() && curl_easy_pause(easy, CURLPAUSE_SEND) == CURLE_OK) {
      curl_easy_pause(easy, CURLPAUSE_CONT);
      return true;
    }
  }
  return false;
}

void CurlCodec::OnSent(const Transfer& transfer) {
  connected_ = true;
  observer_.OnSent(*transfer.active());
}

void CurlCodec::OnHeaders(bool multiplexed) {
  changed_ = true;
  observer_.OnHeaders(multiplexed);
}

void CurlCodec::OnSocketOpened(curl_socket_t socket) {
  sockets_.insert(socket);
  ++stats_.sockets_opened;
}

void CurlCodec::OnSocketClosing(curl_socket_t socket) {
  sockets_.erase(socket);
  changed_ = true;
}

}  // namespace mandate
