#include "manager/tracing/curl_poster.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "manager/core/read_file.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/core/weak_self.h"
#include "manager/core/x509.h"
#include "manager/transport/response_head.h"

namespace mandate {
namespace {

absl::StatusOr<std::string> ReadCa(const std::string& path) {
  auto pem = ReadFile(path);
  if (!pem.ok()) {
    return absl::Status(pem.status().code(),
                        StrCat("the CA file of the tracing endpoint cannot be read: ",
                               AsStd(pem.status().message())));
  }
  if (const auto facts = x509::ReadFacts(*pem); !facts.ok()) {
    return absl::InvalidArgumentError(
        StrCat("the CA file of the tracing endpoint, ", path, ", has no certificate: ",
               AsStd(facts.status().message()), "; give a file with PEM certificates"));
  }
  return pem;
}

curl_socket_t OpenSocket(void*, curlsocktype, curl_sockaddr* address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

const char* NextStep(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
      return "; check that the CA file has the authority of the collector's certificate, and that "
             "the certificate is for this address";
    default:
      return "; check that an OpenTelemetry collector receives OTLP over HTTP at this address";
  }
}

}  // namespace

struct CurlPoster::Exchange {
  Exchange(size_t most, absl::Time wall_now) : max_bytes(most), head(most, wall_now) {}

  const size_t max_bytes;
  Done done;
  ResponseHeadParser head;
  std::string body;
  bool too_large = false;
  std::string ca;
  CurlList headers;
  std::array<char, CURL_ERROR_SIZE> error = {};
  CurlEasy easy{curl_easy_init()};  // after what it points into
  bool added = false;               // to the multi handle
  WeakSelf weak;
};

absl::StatusOr<std::unique_ptr<CurlPoster>> CurlPoster::Create(Options options) {
  if (!InitializeCurl()) return absl::InternalError("libcurl cannot be used");
  if (!options.ca_file.empty()) RETURN_IF_ERROR(ReadCa(options.ca_file).status());
  auto poster = std::unique_ptr<CurlPoster>(new CurlPoster(std::move(options)));
  if (poster->multi_ == nullptr) return absl::ResourceExhaustedError("out of memory for libcurl");
  return poster;
}

CurlPoster::CurlPoster(Options options) : options_(std::move(options)), multi_(curl_multi_init()) {
  CURLM* const multi = multi_.get();
  if (multi == nullptr) return;
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 1L);
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, OnSocket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, OnTimeout);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
}

CurlPoster::~CurlPoster() {
  if (multi_ == nullptr) return;
  // The loop may have ended: libcurl must not set timers and watches any more.
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, nullptr);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, nullptr);
  watches_.clear();
  Cancel();
}

void CurlPoster::Cancel() {
  if (exchange_ == nullptr) return;
  if (exchange_->added) curl_multi_remove_handle(multi_.get(), exchange_->easy.get());
  exchange_.reset();
}

void CurlPoster::Post(std::string_view json, absl::Duration timeout, Done done) {
  Cancel();
  exchange_ =
      std::make_unique<Exchange>(options_.max_answer_bytes, options_.loop->clock().WallTimeNow());
  exchange_->done = std::move(done);
  if (absl::Status status = Start(json, timeout); !status.ok()) FailLater(std::move(status));
}

absl::Status CurlPoster::Start(std::string_view json, absl::Duration timeout) {
  if (!options_.ca_file.empty()) {
    auto ca = ReadCa(options_.ca_file);
    // It may be about to be replaced.
    if (!ca.ok()) return absl::UnavailableError(ca.status().message());
    exchange_->ca = *std::move(ca);
  }
  CURL* const easy = exchange_->easy.get();
  if (easy == nullptr || SetUp(json, timeout) != CURLE_OK) {
    return absl::UnavailableError("out of memory for a request");
  }
  if (const CURLMcode code = curl_multi_add_handle(multi_.get(), easy); code != CURLM_OK) {
    return absl::UnavailableError(
        StrCat("libcurl rejects the request: ", curl_multi_strerror(code)));
  }
  exchange_->added = true;
  return absl::OkStatus();
}

CURLcode CurlPoster::SetUp(std::string_view json, absl::Duration timeout) {
  CURL* const easy = exchange_->easy.get();
  const auto milliseconds = [](absl::Duration duration) {
    return static_cast<long>(std::max<int64_t>(1, absl::ToInt64Milliseconds(duration)));
  };
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(easy, CURLOPT_PROXY, "");  // nor the environment's
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_VERBOSE, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(timeout));
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options_.connect_timeout));
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, OpenSocket);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange_->error.data());
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, OnHeaderLine);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange_.get());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange_.get());
  SetUpTls(easy);
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, json.data());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
  CurlList& headers = exchange_->headers;
  const bool ok = headers.AppendHeader("Content-Type", "", "application/json") &&
                  headers.AppendHeader("Accept", "", "application/json") &&
                  headers.AppendHeader("User-Agent", "", options_.user_agent) &&
                  headers.AppendHeader("Expect", "", "");
  if (!ok) return CURLE_OUT_OF_MEMORY;
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  return curl_easy_setopt(easy, CURLOPT_URL, options_.url.c_str());
}

void CurlPoster::SetUpTls(CURL* easy) {
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  if (options_.ca_file.empty()) return;
  // This file's authorities only. As bytes: libcurl would cache the file for a day.
  curl_easy_setopt(easy, CURLOPT_CAINFO, nullptr);
  curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  std::string& pem = exchange_->ca;
  curl_blob blob = {.data = pem.data(), .len = pem.size(), .flags = CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
}

void CurlPoster::FailLater(absl::Status status) {
  options_.loop->Post(exchange_->weak.Bind(
      [this, status = std::move(status)]() mutable { End(std::move(status)); }));
}

void CurlPoster::End(absl::StatusOr<OtlpAnswer> answer) {
  Done done = std::move(exchange_->done);
  Cancel();
  std::move(done)(std::move(answer));
}

absl::StatusOr<OtlpAnswer> CurlPoster::AnswerOf(CURLcode code) const {
  const Exchange& exchange = *exchange_;
  if (exchange.too_large) {
    return absl::OutOfRangeError(StrCat(options_.url, " answers with more than ",
                                        exchange.max_bytes,
                                        " bytes; check that it is an OpenTelemetry collector"));
  }
  if (code != CURLE_OK) {
    const std::string_view detail =
        exchange.error[0] != 0 ? exchange.error.data() : curl_easy_strerror(code);
    return absl::UnavailableError(
        StrCat("no answer from ", options_.url, " (", detail, ")", NextStep(code)));
  }
  const HttpResponse& head = exchange.head.head();
  return OtlpAnswer{.code = head.code, .retry_after = head.retry_after, .body = exchange.body};
}

int CurlPoster::OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  static_cast<CurlPoster*>(self)->WatchSocket(fd, what);
  return 0;
}

void CurlPoster::WatchSocket(curl_socket_t fd, int what) {
  if (what == CURL_POLL_REMOVE) {
    watches_.erase(fd);
    return;
  }
  const uint32_t events =
      (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
  if (const auto known = watches_.find(fd); known != watches_.end()) {
    known->second->SetEvents(events);
    return;
  }
  auto watch = options_.loop->WatchFd(fd, events, [this, fd](uint32_t ready) {
    Act(fd, (ready & EPOLLIN ? CURL_CSELECT_IN : 0) | (ready & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                (ready & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0));
  });
  if (watch.ok()) {
    watches_.emplace(fd, *std::move(watch));
  } else if (exchange_ != nullptr) {
    FailLater(absl::UnavailableError(watch.status().message()));
  }
}

int CurlPoster::OnTimeout(CURLM*, long milliseconds, void* self_pointer) {
  CurlPoster& self = *static_cast<CurlPoster*>(self_pointer);
  Loop& loop = *self.options_.loop;
  self.timeout_ = milliseconds < 0
                      ? nullptr
                      : loop.RunAt(loop.clock().TimeNow() + absl::Milliseconds(milliseconds),
                                   [&self] { self.Act(CURL_SOCKET_TIMEOUT, 0); });
  return 0;
}

size_t CurlPoster::OnHeaderLine(char* data, size_t size, size_t count, void* exchange) {
  Exchange& self = *static_cast<Exchange*>(exchange);
  self.too_large = self.head.AddLine({data, size * count}) == ResponseHeadParser::Result::kTooLarge;
  return self.too_large ? 0 : size * count;
}

size_t CurlPoster::OnBody(char* data, size_t size, size_t count, void* exchange) {
  Exchange& self = *static_cast<Exchange*>(exchange);
  self.too_large = self.body.size() + size * count > self.max_bytes;
  if (self.too_large) return size * count + 1;  // an error to libcurl
  self.body.append(data, size * count);
  return size * count;
}

void CurlPoster::Act(curl_socket_t fd, int events) {
  int running = 0;
  curl_multi_socket_action(multi_.get(), fd, events, &running);
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left)) {
    if (message->msg != CURLMSG_DONE || exchange_ == nullptr ||
        message->easy_handle != exchange_->easy.get()) {
      continue;
    }
    return End(AnswerOf(message->data.result));
  }
}

}  // namespace mandate
