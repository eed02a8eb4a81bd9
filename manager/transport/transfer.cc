#include "manager/transport/transfer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "manager/transport/curl_error.h"
#include "manager/transport/request_url.h"
#include "manager/transport/tls_buffers.h"

namespace mandate {
namespace {

CURLcode SetBlob(CURL* easy, CURLoption option, std::string_view bytes) {
  curl_blob blob = {
      .data = const_cast<char*>(bytes.data()), .len = bytes.size(), .flags = CURL_BLOB_NOCOPY};
  return curl_easy_setopt(easy, option, &blob);
}

CURLcode SetUpContext(CURL*, void* context, void*) {
  KeepReadBuffers(static_cast<SSL_CTX*>(context));
  return CURLE_OK;
}

// TLS 1.2 or newer. The server is always verified against the endpoint's CA and name. The client
// certificate is used only if it is the request's credential. `request` outlives the handle:
// nothing is copied, keys in particular. CURLE_OK or CURLE_OUT_OF_MEMORY.
CURLcode ApplyTls(CURL* easy, const HttpRequest& request) {
  const Endpoint& endpoint = *request.endpoint;
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  // The endpoint's CA only. libcurl has the system's compiled in as defaults.
  curl_easy_setopt(easy, CURLOPT_CAINFO, nullptr);
  curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  // Fails with a libcurl that has another TLS library than OpenSSL.
  CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, SetUpContext);
  if (code != CURLE_OK) return code;
  // As bytes: libcurl would cache a file's certificates for a day, and miss their rotation.
  code = SetBlob(easy, CURLOPT_CAINFO_BLOB, endpoint.ca_pem);
  if (code != CURLE_OK || !std::holds_alternative<EndpointCertificate>(request.credential)) {
    return code;
  }
  const ClientCertificate& certificate = *endpoint.client_certificate;
  curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
  curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
  code = SetBlob(easy, CURLOPT_SSLCERT_BLOB, certificate.certificate_pem);
  if (code != CURLE_OK) return code;
  return SetBlob(easy, CURLOPT_SSLKEY_BLOB, certificate.key_pem->Reveal());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transfer>> Transfer::Create(std::shared_ptr<ActiveRequest> active,
                                                           Observer& observer,
                                                           const HttpOptions& options,
                                                           absl::Time wall_now) {
  auto transfer =
      std::unique_ptr<Transfer>(new Transfer(std::move(active), observer, options, wall_now));
  const CURLcode code = transfer->easy_ != nullptr ? transfer->SetUp() : CURLE_OUT_OF_MEMORY;
  if (code != CURLE_OK) return transfer->StatusOf(code);
  return transfer;
}

Transfer::Transfer(std::shared_ptr<ActiveRequest> active, Observer& observer,
                   const HttpOptions& options, absl::Time wall_now)
    : active_(std::move(active)),
      observer_(observer),
      options_(options),
      parser_(options.max_header_bytes, wall_now),
      easy_(curl_easy_init()) {}

CURLcode Transfer::SetUp() {
  SetUpConnection();
  SetUpCallbacks();
  CURLcode code = SetUpResending();
  if (code == CURLE_OK) code = ApplyTls(easy(), active_->request());
  return code == CURLE_OK ? SetUpRequest() : code;
}

void Transfer::SetUpConnection() {
  CURL* const easy = this->easy();
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  // Never the environment's proxy: only the endpoint's.
  curl_easy_setopt(easy, CURLOPT_PROXY, active_->request().endpoint->proxy.c_str());
  curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
  curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
  // The proxy's response is not the server's, and the proxy must not see the request's headers.
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(easy, CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
  // libcurl looks names up in a thread. The loop must not wait for a lookup when its request is
  // ended.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  // Verbose output would print the bearer token.
  curl_easy_setopt(easy, CURLOPT_VERBOSE, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 1L);
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(absl::ToInt64Milliseconds(options_.connect_timeout)));
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 15L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 5L);
}

void Transfer::SetUpCallbacks() {
  CURL* const easy = this->easy();
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, OnHeaderLine);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, OnBeforeRequest);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, SetSocketOptions);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, this);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, OpenSocket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  // A socket outlives the transfer that opened it.
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, CloseSocket);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, &observer_);
}

CURLcode Transfer::SetUpResending() {
  // libcurl sends a request again, even a POST, when it failed on a connection that had served
  // others, for any reason and without reporting it. It does not under RTSP's RECEIVE, which HTTP
  // does not use otherwise. REFUSED_STREAM remains.
  return curl_easy_setopt(easy(), CURLOPT_RTSP_REQUEST, static_cast<long>(CURL_RTSPREQ_RECEIVE));
}

CURLcode Transfer::SetUpRequest() {
  CURL* const easy = this->easy();
  const HttpRequest& request = active_->request();
  const RequestUrl url = UrlOf(request);
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  CURLcode code = curl_easy_setopt(easy, CURLOPT_URL, url.url.c_str());
  if (code != CURLE_OK) return code;
  bool ok = true;
  if (!url.connect_to.empty()) {
    std::string line = url.connect_to;
    ok = connect_to_.Append(line) && headers_.AppendHeader("Host", "", url.host);
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_.get());
  }

  const bool may_have_body = request.method != "GET" && request.method != "HEAD" &&
                             (request.method != "DELETE" || !request.body.empty());
  if (may_have_body) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  } else if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  }
  ok = ok && curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str()) == CURLE_OK &&
       headers_.AppendHeader("User-Agent", "", request.user_agent) &&
       headers_.AppendHeader("Accept", "", request.accept) &&
       headers_.AppendHeader("Content-Type", "", request.content_type) &&
       headers_.AppendHeader("Expect", "", "");
  for (const auto& [name, value] : request.headers) {
    // libcurl's syntax for an empty header.
    std::string empty = absl::StrCat(name, ";");
    ok = ok && (value.empty() ? headers_.Append(empty) : headers_.AppendHeader(name, "", value));
  }
  if (const auto* bearer = std::get_if<BearerToken>(&request.credential)) {
    ok = ok && headers_.AppendHeader("Authorization", "Bearer ", bearer->token->Reveal());
  }
  if (!ok) return CURLE_OUT_OF_MEMORY;
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_.get());
}

bool Transfer::WasRefusedUnprocessed() const {
  // The server refused the stream, by REFUSED_STREAM or by a GOAWAY that does not include it: a
  // promise that it was not served (RFC 9113, 8.7). libcurl has no message for that. With these
  // settings it sends nothing again for another reason that has no message, and CURLE_HTTP2 is the
  // end of the last stream of a connection that got GOAWAY. (A server that violates the protocol at
  // the same moment looks the same.)
  return sent_ && !received_ && error_[0] == 0 && AnsweredCode() == 0;
}

int Transfer::AnsweredCode() const {
  // libcurl notes the code when the frame comes, long before it delivers the head. A request that
  // was sent again counts as another request.
  curl_header* status = nullptr;
  for (size_t index = 0;; ++index) {
    curl_header* next = nullptr;
    if (curl_easy_header(easy(), ":status", index, CURLH_PSEUDO, 0, &next) != CURLHE_OK) break;
    status = next;
  }
  int code = 0;
  const bool known = status != nullptr && absl::SimpleAtoi(status->value, &code);
  return known && code >= 200 ? code : 0;
}

void Transfer::OnTransferDone(CURLcode code) {
  if (code == CURLE_HTTP2) unprocessed_ = WasRefusedUnprocessed();
  if (!IsConnectionError(code) || parser_.done()) return;
  // When a head, a body and RST_STREAM come together, libcurl 7.88 drops what it has not delivered
  // yet. API servers reject a request so before they have read its body.
  lost_code_ = AnsweredCode();
  if (lost_code_ == 0) return;
  received_ = true;
  if (lost_code_ < 400) return;
  HttpResponse head;
  head.code = lost_code_;
  active_->OnHeaders(head);
}

absl::Status Transfer::StatusOf(CURLcode code) const {
  if (header_too_large_) {
    return absl::ResourceExhaustedError(
        absl::StrCat(active_->request().endpoint->server, " sent response headers of more than ",
                     options_.max_header_bytes, " bytes, the limit"));
  }
  if (code == CURLE_WRITE_ERROR && !active_->reason().ok()) return active_->reason();
  const Endpoint& endpoint = *active_->request().endpoint;
  const std::string server = endpoint.proxy.empty()
                                 ? endpoint.server
                                 : absl::StrCat(endpoint.server, " through ", endpoint.proxy);
  if (unprocessed_) {
    return absl::UnavailableError(
        absl::StrCat(server, " repeatedly rejects requests without processing them"));
  }
  if (lost_code_ != 0) {
    return absl::UnavailableError(
        absl::StrCat(server, " served the request (", lost_code_,
                     "), but its response was lost: ", "the server reset the stream"));
  }
  if (sent_ && !received_ && IsConnectionError(code)) {
    return absl::UnavailableError(absl::StrCat(
        server,
        ": the connection failed before a response came; whether the request was served is ",
        "unknown (", error_[0] != 0 ? error_.data() : curl_easy_strerror(code), ")"));
  }
  // The kernel closed the connection (TCP_USER_TIMEOUT).
  if (sent_ && code == CURLE_OPERATION_TIMEDOUT) code = CURLE_RECV_ERROR;
  return StatusOfCurl(code, server, error_.data());
}

size_t Transfer::OnHeaderLine(char* data, size_t size, size_t count, void* self_pointer) {
  Transfer& self = *static_cast<Transfer*>(self_pointer);
  self.received_ = true;
  self.observer_.OnReceived();
  if (self.parser_.done()) return size * count;
  switch (self.parser_.AddLine({data, size * count})) {
    case ResponseHeadParser::Result::kMore:
      return size * count;
    case ResponseHeadParser::Result::kTooLarge:
      self.header_too_large_ = true;
      return 0;
    case ResponseHeadParser::Result::kDone:
      break;
  }
  long version = 0;
  curl_easy_getinfo(self.easy(), CURLINFO_HTTP_VERSION, &version);
  self.observer_.OnHeaders(version >= CURL_HTTP_VERSION_2_0);
  return self.active_->OnHeaders(self.parser_.head()) ? size * count : 0;
}

size_t Transfer::OnBody(char* data, size_t size, size_t count, void* self_pointer) {
  Transfer& self = *static_cast<Transfer*>(self_pointer);
  self.received_ = true;
  self.observer_.OnReceived();
  const bool goes_on = self.active_->OnBody({data, size * count});
  // libcurl keeps its buffer as long as the transfer, and a later part may be shorter. An idle
  // watch would keep what it received last for hours.
  OPENSSL_cleanse(data, size * count);
  // libcurl takes any result but the size for an error.
  return goes_on ? size * count : size * count + 1;
}

int Transfer::OnBeforeRequest(void* self_pointer, char*, char*, int, int) {
  Transfer& self = *static_cast<Transfer*>(self_pointer);
  // The transport decides whether to send it again, not libcurl.
  if (self.sent_) self.unprocessed_ = self.WasRefusedUnprocessed();
  if (self.sent_ || self.active_->ended()) return CURL_PREREQFUNC_ABORT;
  self.sent_ = true;
  self.observer_.OnSent(self);
  return CURL_PREREQFUNC_OK;
}

curl_socket_t Transfer::OpenSocket(void* self_pointer, curlsocktype, curl_sockaddr* address) {
  Transfer& self = *static_cast<Transfer*>(self_pointer);
  if (!self.observer_.MayOpenSocket()) {
    self.refused_ = true;
    self.unprocessed_ = self.WasRefusedUnprocessed();
    return CURL_SOCKET_BAD;
  }
  const curl_socket_t fd =
      socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd != CURL_SOCKET_BAD) self.observer_.OnSocketOpened(fd);
  return fd;
}

int Transfer::CloseSocket(void* observer, curl_socket_t socket) {
  static_cast<Observer*>(observer)->OnSocketClosing(socket);
  return close(socket);
}

int Transfer::SetSocketOptions(void* self_pointer, curl_socket_t socket, curlsocktype) {
  const Transfer& self = *static_cast<Transfer*>(self_pointer);
  // The keepalive's timeouts do not cover data that is never acknowledged.
  const auto milliseconds =
      static_cast<unsigned int>(absl::ToInt64Milliseconds(self.options_.tcp_user_timeout));
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
  return CURL_SOCKOPT_OK;
}

}  // namespace mandate
