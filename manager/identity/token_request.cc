#include "manager/identity/token_request.h"

#include "absl/strings/numbers.h"
#include "manager/core/strings.h"
#include "manager/object/json_cursor.h"
#include "manager/object/json_text.h"

namespace mandate {
namespace {

// No API server issues tokens for a shorter time; such a token would make us ask without end.
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
                             std::string_view bound_secret) {
  std::string body = StrCat(
      R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":[)");
  for (size_t i = 0; i < audiences.size(); ++i) {
    if (i > 0) body += ',';
    AppendJsonString(audiences[i], body);
  }
  StrAppend(&body, R"(],"expirationSeconds":)", absl::ToInt64Seconds(expiration));
  if (!bound_secret.empty()) {
    body += R"(,"boundObjectRef":{"apiVersion":"v1","kind":"Secret","name":)";
    AppendJsonString(bound_secret, body);
    body += '}';
  }
  return body + "}}";
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
