#include "manager/identity/token_request.h"

#include "absl/strings/numbers.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/json_cursor.h"

namespace mandate {
namespace {

// No API server issues tokens for a shorter time. With such a token we would ask without end.
constexpr absl::Duration kMinLife = absl::Minutes(1);
constexpr absl::Duration kMaxLife = absl::Hours(24 * 366);

// Calls `visit` for each member of the object at the cursor; `visit` must consume the value.
template <class Visit>
void ForEachMember(JsonCursor& json, Visit visit) {
  std::string_view key;
  if (!json.BeginObject()) return;
  while (json.NextMember(&key)) visit(std::string(key));
}

}  // namespace

std::string TokenRequestBody(absl::Duration expiration, const std::vector<std::string>& audiences,
                             const std::string& bound_secret) {
  Json::Value body;
  body["apiVersion"] = "authentication.k8s.io/v1";
  body["kind"] = "TokenRequest";
  Json::Value& spec = body["spec"];
  spec["audiences"] = Json::arrayValue;
  for (const std::string& audience : audiences) spec["audiences"].append(audience);
  spec["expirationSeconds"] = absl::ToInt64Seconds(expiration);
  if (!bound_secret.empty()) {
    spec["boundObjectRef"]["apiVersion"] = "v1";
    spec["boundObjectRef"]["kind"] = "Secret";
    spec["boundObjectRef"]["name"] = bound_secret;
  }
  return WriteJson(body);
}

absl::StatusOr<IssuedToken> ParseTokenResponse(std::string_view body) {
  JsonCursor json(body);
  std::string_view seconds_text;
  std::string_view token;
  ForEachMember(json, [&](const std::string& key) {
    if (key == "spec" || key == "status") {
      ForEachMember(json, [&](const std::string& inner) {
        if (key == "spec" && inner == "expirationSeconds") {
          json.ReadNumber(&seconds_text);
        } else if (key == "status" && inner == "token") {
          json.ReadString(&token);
        } else {
          json.SkipValue();
        }
      });
    } else {
      json.SkipValue();
    }
  });
  // The cursor's own message could quote the text.
  if (!json.Finish().ok()) return absl::InvalidArgumentError("it is not a TokenRequest in JSON");
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(AsAbsl(seconds_text), &seconds)) {
    return absl::InvalidArgumentError("it has no spec.expirationSeconds");
  }
  const absl::Duration life = absl::Seconds(seconds);
  if (life < kMinLife || life > kMaxLife) {
    return absl::InvalidArgumentError(
        StrCat("its spec.expirationSeconds is ", seconds, ", which is invalid"));
  }
  if (token.empty()) return absl::InvalidArgumentError("it has no status.token");
  return IssuedToken{.token = Secret(std::string(token)), .life = life};
}

}  // namespace mandate
