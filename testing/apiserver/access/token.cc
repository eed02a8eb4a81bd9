#include "testing/apiserver/access/token.h"

#include <jsoncpp/json/json.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "absl/strings/escaping.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/apiserver/access/json_fields.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

constexpr std::string_view kPrivateClaims = "kubernetes.io";

std::string Encode(std::string_view bytes) { return absl::WebSafeBase64Escape(AsAbsl(bytes)); }

std::string Signature(std::string_view text, std::string_view key) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  return {reinterpret_cast<const char*>(digest), size};
}

Json::Value ToJson(const NameAndUid& ref) {
  Json::Value json(Json::objectValue);
  json["name"] = ref.name;
  json["uid"] = ref.uid;
  return json;
}

absl::Time Seconds(const Json::Value& json, std::string_view key) {
  const Json::Value* found = FindMember(json, key);
  return absl::FromUnixSeconds(found != nullptr && found->isInt64() ? found->asInt64() : 0);
}

std::optional<NameAndUid> Ref(const Json::Value& json, std::string_view key) {
  const Json::Value* found = FindMember(json, key);
  if (found == nullptr) return std::nullopt;
  return NameAndUid{.name = StringAt(*found, "name"), .uid = StringAt(*found, "uid")};
}

}  // namespace

std::string SignToken(const TokenClaims& claims, std::string_view key) {
  Json::Value payload(Json::objectValue);
  for (const std::string& audience : claims.audiences) payload["aud"].append(audience);
  payload["iss"] = claims.issuer;
  payload["jti"] = claims.jti;
  payload["sub"] = StrCat("system:serviceaccount:", claims.ns, ":", claims.service_account.name);
  payload["iat"] = Json::Int64{absl::ToUnixSeconds(claims.issued)};
  payload["nbf"] = payload["iat"];
  payload["exp"] = Json::Int64{absl::ToUnixSeconds(claims.expires)};
  Json::Value& own = payload[std::string(kPrivateClaims)];
  own["namespace"] = claims.ns;
  own["serviceaccount"] = ToJson(claims.service_account);
  if (claims.pod) own["pod"] = ToJson(*claims.pod);
  if (claims.secret) own["secret"] = ToJson(*claims.secret);
  if (claims.node) own["node"] = ToJson(*claims.node);

  const std::string text =
      StrCat(Encode(R"({"alg":"HS256","typ":"JWT"})"), ".", Encode(WriteJson(payload)));
  return StrCat(text, ".", Encode(Signature(text, key)));
}

absl::StatusOr<TokenClaims> OpenToken(std::string_view token, std::string_view key) {
  const absl::Status foreign = absl::InvalidArgumentError("not a token of this server");
  const size_t dot = token.rfind('.');
  if (dot == std::string_view::npos) return foreign;
  const std::string_view text = token.substr(0, dot);
  if (token.substr(dot + 1) != Encode(Signature(text, key))) return foreign;

  std::string bytes;
  if (!absl::WebSafeBase64Unescape(AsAbsl(text.substr(text.find('.') + 1)), &bytes)) return foreign;
  ASSIGN_OR_RETURN(const Json::Value payload, ParseJson(bytes));
  const Json::Value* own = FindMember(payload, kPrivateClaims);
  if (own == nullptr) return foreign;
  TokenClaims claims{.issuer = StringAt(payload, "iss"),
                     .jti = StringAt(payload, "jti"),
                     .audiences = Texts(payload, "aud"),
                     .issued = Seconds(payload, "iat"),
                     .expires = Seconds(payload, "exp"),
                     .ns = StringAt(*own, "namespace"),
                     .service_account = Ref(*own, "serviceaccount").value_or(NameAndUid{}),
                     .pod = Ref(*own, "pod"),
                     .secret = Ref(*own, "secret"),
                     .node = Ref(*own, "node")};
  return claims;
}

}  // namespace mandate::apiserver
