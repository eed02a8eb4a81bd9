#include "manager/transport/curl_error.h"

#include <string>

#include "manager/core/strings.h"

namespace mandate {
namespace {

struct Meaning {
  absl::StatusCode code;
  const char* text;
  const char* next_step;
};

constexpr const char* kNetwork = "; check that the API server is running and reachable";
constexpr const char* kCa = "; check that the configured CA is this server's";
constexpr const char* kName =
    "; check that the server's certificate has the configured address or tls-server-name";
constexpr const char* kTime = "; check the server's certificate and this machine's clock";
constexpr const char* kTunnel = "; check that the proxy allows connections to this server";
constexpr const char* kClientCertificate =
    "; check the client certificate and its key in the kubeconfig";

Meaning MeaningOf(CURLcode code) {
  using absl::StatusCode;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return {StatusCode::kUnavailable, "its name cannot be resolved", kNetwork};
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
      return {StatusCode::kUnavailable, "the connection to the proxy failed",
              "; check that HTTPS_PROXY, or proxy-url in the kubeconfig, names a reachable proxy"};
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
      return {StatusCode::kUnavailable, "no connection", kNetwork};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {StatusCode::kUnavailable, "its certificate is not trusted", ""};
    case CURLE_SSL_CACERT_BADFILE:
      return {StatusCode::kInvalidArgument, "the configured CA is not a PEM certificate", kCa};
    case CURLE_SSL_CERTPROBLEM:
      return {StatusCode::kInvalidArgument, "the client certificate cannot be used",
              kClientCertificate};
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
      return {StatusCode::kUnavailable, "the TLS handshake failed", ""};
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_SSL_SHUTDOWN_FAILED:
      return {StatusCode::kUnavailable, "the connection was lost", ""};
    case CURLE_HTTP2_STREAM:
      return {StatusCode::kUnavailable, "the server reset the request", ""};
    case CURLE_PARTIAL_FILE:
      return {StatusCode::kUnavailable, "the response was cut short", ""};
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_HTTP_RETURNED_ERROR:
      return {StatusCode::kUnavailable, "its response is not HTTP", ""};
    case CURLE_OUT_OF_MEMORY:
      return {StatusCode::kResourceExhausted, "out of memory", ""};
    case CURLE_URL_MALFORMAT:
      return {StatusCode::kInvalidArgument, "its address is invalid", ""};
    case CURLE_ABORTED_BY_CALLBACK:
    case CURLE_WRITE_ERROR:
      return {StatusCode::kCancelled, "the transfer was cancelled", ""};
    default:
      return {StatusCode::kUnavailable, "the request failed", ""};
  }
}

// libcurl recognizes a bad certificate by OpenSSL's SSL_R_CERTIFICATE_VERIFY_FAILED if that is the
// first error in OpenSSL's queue. If another CA of the same name signed it, the code that verifies
// signatures has queued its error before.
bool IsOfTheCertificate(CURLcode code, std::string_view detail) {
  if (code != CURLE_SSL_CONNECT_ERROR) return false;
  for (const std::string_view part : {"asn1 encoding", "rsa", "elliptic curve"}) {
    if (detail.find(StrCat(":", part, " routines:")) != std::string_view::npos) return true;
  }
  return false;
}

const char* NextStep(const Meaning& meaning, CURLcode code, std::string_view detail) {
  const auto says = [detail](std::string_view text) {
    return detail.find(text) != std::string_view::npos;
  };
  // libcurl's text when a proxy refuses to connect.
  if (code == CURLE_RECV_ERROR && says("CONNECT")) return kTunnel;
  if (code != CURLE_PEER_FAILED_VERIFICATION) return meaning.next_step;
  // libcurl has one code for all failures to connect.
  if (says("expired") || says("not yet valid")) return kTime;
  return says("subject name") || says("does not match") ? kName : kCa;
}

}  // namespace

absl::Status StatusOfCurl(CURLcode code, std::string_view server, std::string_view detail) {
  if (code == CURLE_OK) return absl::OkStatus();
  if (IsOfTheCertificate(code, detail)) code = CURLE_PEER_FAILED_VERIFICATION;
  const Meaning meaning = MeaningOf(code);
  if (detail.empty()) detail = curl_easy_strerror(code);
  return absl::Status(meaning.code, StrCat(server, ": ", meaning.text, " (", detail, ")",
                                           NextStep(meaning, code, detail)));
}

bool IsConnectionError(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:   // the kernel's timeout, or while connecting
    case CURLE_ABORTED_BY_CALLBACK:  // we did not let libcurl send it again
      return true;
    default:
      return false;
  }
}

}  // namespace mandate
