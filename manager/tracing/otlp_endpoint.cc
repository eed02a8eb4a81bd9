#include "manager/tracing/otlp_endpoint.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>

#include <memory>

#include "manager/core/strings.h"
#include "manager/transport/request_url.h"

namespace mandate {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;

// "": the URL has no such part.
std::string Part(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return "";
  std::string copy = text;
  curl_free(text);
  return copy;
}

// libcurl never asks a name server about "localhost".
bool IsLoopback(const std::string& host) {
  if (host == "localhost") return true;
  in_addr v4 = {};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
  if (host.size() < 2 || host.front() != '[') return false;
  in6_addr v6 = {};
  return inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &v6) == 1 &&
         IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace

absl::StatusOr<std::string> OtlpTracesUrl(std::string_view endpoint) {
  const auto invalid = [endpoint](std::string_view why) {
    return absl::InvalidArgumentError(StrCat("the tracing endpoint \"", WithoutUser(endpoint),
                                             "\" ", why,
                                             "; use a URL such as https://collector:4318"));
  };
  const Url url(curl_url());
  if (url == nullptr) return absl::ResourceExhaustedError("out of memory for a URL");
  const std::string text(endpoint);
  if (const CURLUcode code =
          curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME);
      code != CURLUE_OK) {
    return invalid(StrCat("is not a URL (", curl_url_strerror(code), ")"));
  }
  if (!Part(url.get(), CURLUPART_USER).empty() || !Part(url.get(), CURLUPART_PASSWORD).empty()) {
    return invalid("has a user or a password");
  }
  if (!Part(url.get(), CURLUPART_QUERY).empty() || !Part(url.get(), CURLUPART_FRAGMENT).empty()) {
    return invalid("has a query or a fragment");
  }
  const std::string scheme = Part(url.get(), CURLUPART_SCHEME);
  if (scheme == "http") {
    if (!IsLoopback(Part(url.get(), CURLUPART_HOST))) {
      return invalid("has no TLS, which only an address of this machine may do");
    }
  } else if (scheme != "https") {
    return invalid(StrCat("has the scheme \"", scheme, "\""));
  }
  if (Part(url.get(), CURLUPART_PATH) == "/") {
    curl_url_set(url.get(), CURLUPART_PATH, "/v1/traces", 0);
  }
  return Part(url.get(), CURLUPART_URL);
}

}  // namespace mandate
