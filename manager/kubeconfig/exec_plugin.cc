#include "manager/kubeconfig/exec_plugin.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/time.h"

namespace mandate {
namespace {

constexpr std::string_view kRemoved = "<removed>";

// Shorter runs of characters are words, versions and host names.
constexpr size_t kShortestCredential = 32;
// Shorter "secrets" may be ordinary words of a message.
constexpr size_t kShortestSecret = 8;

// The text of the member. Null counts as absent, as everywhere in Kubernetes.
absl::StatusOr<std::string> Text(const Json::Value& object, const char* key) {
  const Json::Value* value = FindMember(object, key);
  if (value == nullptr || value->isNull()) return std::string();
  if (value->isString()) return value->asString();
  return absl::InvalidArgumentError(StrCat("has a status.", key, " that is not a string"));
}

bool IsOfCredential(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '/' || c == '=' ||
         c == '_' || c == '-';
}

bool LooksLikeCredential(std::string_view run) {
  if (run.size() < kShortestCredential) return false;
  const auto has = [&](int (*is)(int)) {
    return std::any_of(run.begin(), run.end(),
                       [is](char c) { return is(static_cast<unsigned char>(c)) != 0; });
  };
  return has(std::islower) && has(std::isupper) && has(std::isdigit);
}

}  // namespace

absl::StatusOr<ExecCredential> ParseExecCredential(std::string_view text,
                                                   std::string_view api_version) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) {
    return absl::InvalidArgumentError("is empty");
  }
  // The parser's message is not used, because it could quote the text.
  const absl::StatusOr<Json::Value> json = ParseJson(text);
  if (!json.ok()) return absl::InvalidArgumentError("is not JSON");
  if (!json->isObject()) return absl::InvalidArgumentError("is not a JSON object");
  const auto said = [&](const char* key) {
    const Json::Value* value = FindMember(*json, key);
    return value != nullptr && value->isString() ? value->asString() : std::string();
  };
  if (const std::string kind = said("kind"); kind != "ExecCredential") {
    return absl::InvalidArgumentError(
        StrCat("is of the kind \"", WithoutCredentials(kind, {}, 64), "\", not ExecCredential"));
  }
  if (const std::string version = said("apiVersion"); version != api_version) {
    return absl::InvalidArgumentError(StrCat("has the apiVersion \"",
                                             WithoutCredentials(version, {}, 64),
                                             "\", but the kubeconfig says ", api_version));
  }
  const Json::Value* status = FindMember(*json, "status");
  if (status == nullptr || !status->isObject()) {
    return absl::InvalidArgumentError("has no status");
  }
  ExecCredential credential;
  std::string fields[4];
  const char* const names[4] = {"token", "clientCertificateData", "clientKeyData",
                                "expirationTimestamp"};
  for (size_t i = 0; i < 4; ++i) {
    auto field = Text(*status, names[i]);
    if (!field.ok()) return std::move(field).status();
    fields[i] = *std::move(field);
  }
  auto& [token, certificate, key, expires] = fields;
  Secret key_pem(std::move(key));
  if (certificate.empty() != key_pem.empty()) {
    return absl::InvalidArgumentError(
        certificate.empty() ? "has a status.clientKeyData but no clientCertificateData"
                            : "has a status.clientCertificateData but no clientKeyData");
  }
  if (token.empty() == certificate.empty()) {
    return absl::InvalidArgumentError(
        token.empty() ? "has neither a status.token nor a status.clientCertificateData"
                      : "has a token and a client certificate in its status, of which the server "
                        "would use the certificate; the plugin must print only one of them");
  }
  if (!token.empty()) {
    const bool printable =
        std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!printable) {
      return absl::InvalidArgumentError("has a status.token with blanks or control characters");
    }
    credential.token.emplace(std::move(token));
  } else {
    if (!absl::StrContains(certificate, "-----BEGIN CERTIFICATE-----")) {
      return absl::InvalidArgumentError("has a status.clientCertificateData that is not PEM");
    }
    if (!absl::StrContains(AsAbsl(key_pem.Reveal()), "-----BEGIN ")) {
      return absl::InvalidArgumentError("has a status.clientKeyData that is not PEM");
    }
    credential.certificate_pem = std::move(certificate);
    credential.key_pem.emplace(std::move(key_pem));
  }
  if (!expires.empty()) {
    const auto time = ParseTimestamp(expires);
    if (!time.ok()) {
      return absl::InvalidArgumentError(
          "has a status.expirationTimestamp that is not an RFC 3339 time");
    }
    credential.expires = *time;
  }
  return credential;
}

std::string WithoutCredentials(std::string text, const std::vector<std::string_view>& secrets,
                               size_t max) {
  for (const std::string_view secret : secrets) {
    if (secret.size() < kShortestSecret) continue;
    text = absl::StrReplaceAll(text, {{AsAbsl(secret), AsAbsl(kRemoved)}});
  }
  std::string kept;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && IsOfCredential(text[end])) ++end;
    const std::string_view run = std::string_view(text).substr(at, end - at);
    kept += LooksLikeCredential(run) ? kRemoved : run;
    if (end < text.size()) {
      const auto c = static_cast<unsigned char>(text[end]);
      kept += std::iscntrl(c) != 0 ? ' ' : text[end];
    }
    at = end + 1;
  }
  const size_t last = kept.find_last_not_of(' ');
  kept.erase(last == kept.npos ? 0 : last + 1);
  if (kept.size() > max) kept = StrCat("…", kept.substr(kept.size() - max));
  return kept;
}

}  // namespace mandate
