#include "manager/transport/request_check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "manager/core/strings.h"
#include "manager/transport/request_url.h"

namespace mandate {
namespace {

// RFC 9110, 5.6.2.
bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string::npos;
  });
}

bool IsFieldValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return (c >= 0x20 && c != 0x7f) || c == '\t'; });
}

bool IsVisible(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

// Headers that the transport sets from the request's fields, or that callers may not choose.
bool IsReservedHeader(std::string_view name) {
  constexpr std::array<std::string_view, 10> kReserved = {"authorization",
                                                          "proxy-authorization",
                                                          "host",
                                                          "user-agent",
                                                          "accept",
                                                          "content-type",
                                                          "cookie",
                                                          "content-length",
                                                          "transfer-encoding",
                                                          "connection"};
  return std::any_of(kReserved.begin(), kReserved.end(), [name](std::string_view reserved) {
    return absl::EqualsIgnoreCase(AsAbsl(name), AsAbsl(reserved));
  });
}

bool IsAddress(std::string_view url, std::string_view scheme) {
  return url.size() > scheme.size() && url.starts_with(scheme) && IsVisible(url) &&
         !url.ends_with('/') && url.find('@') == std::string_view::npos;
}

absl::Status CheckEndpoint(const Endpoint& endpoint) {
  if (!IsAddress(endpoint.server, "https://")) {
    return absl::InvalidArgumentError(absl::StrCat("the server's address \"",
                                                   WithoutUser(endpoint.server),
                                                   "\" must have the form https://HOST[:PORT]"));
  }
  if (endpoint.ca_pem.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no CA certificate is known for ", endpoint.server,
                     ", and servers must be verified; set the endpoint's CA"));
  }
  if (!endpoint.proxy.empty() && !IsAddress(endpoint.proxy, "http://")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the proxy of ", endpoint.server, " must have the form http://HOST:PORT, without a user"));
  }
  return absl::OkStatus();
}

absl::Status CheckCredential(const HttpRequest& request) {
  if (const auto* bearer = std::get_if<BearerToken>(&request.credential)) {
    if (bearer->token == nullptr || bearer->token->empty()) {
      // The server would treat the request as system:anonymous.
      return absl::InvalidArgumentError("the request's bearer token is empty");
    }
    if (!IsVisible(bearer->token->Reveal())) {
      return absl::InvalidArgumentError(
          "the request's bearer token has invalid characters, such as a line break");
    }
    return absl::OkStatus();
  }
  const auto& certificate = request.endpoint->client_certificate;
  if (!certificate.has_value() || certificate->key_pem == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the endpoint ", request.endpoint->server,
                     " has no client certificate, which the request needs"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRequest(const HttpRequest& request) {
  if (request.endpoint == nullptr) return absl::InvalidArgumentError("the request has no endpoint");
  if (absl::Status status = CheckEndpoint(*request.endpoint); !status.ok()) return status;
  if (absl::Status status = CheckCredential(request); !status.ok()) return status;
  if (!IsToken(request.method)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", absl::CHexEscape(request.method), "\" is not a valid HTTP method"));
  }
  if (!absl::StartsWith(request.target, "/") || !IsVisible(request.target) ||
      absl::StrContains(request.target, "#")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", absl::CHexEscape(request.target),
        "\" is not a valid request target: write a path that starts with /, percent-encoded"));
  }
  if (!request.body.empty() && (request.method == "GET" || request.method == "HEAD")) {
    return absl::InvalidArgumentError(
        absl::StrCat("a ", request.method, " request has no body, but this one does"));
  }
  if (!request.body.empty() && request.content_type.empty()) {
    return absl::InvalidArgumentError("the request has a body and no content type");
  }
  for (std::string_view value :
       {std::string_view(request.user_agent), std::string_view(request.accept),
        std::string_view(request.content_type)}) {
    if (!IsFieldValue(value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the header value \"", absl::CHexEscape(AsAbsl(value)), "\" has control characters"));
    }
  }
  for (const auto& [name, value] : request.headers) {
    if (!IsToken(name) || !IsFieldValue(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the header \"", absl::CHexEscape(name), "\" is malformed"));
    }
    if (IsReservedHeader(name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the header \"", name,
                       "\" must not be set: it belongs to the request's credential or user agent"));
    }
  }
  return absl::OkStatus();
}

}  // namespace mandate
