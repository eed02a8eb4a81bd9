#include "testing/apiserver/access/identity_review.h"

#include <string>
#include <vector>

#include "manager/object/time.h"
#include "testing/apiserver/access/json_fields.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
Json::Value UserJson(const User& user) {
  Json::Value json(Json::objectValue);
  if (!user.name.empty()) json["username"] = user.name;
  if (!user.uid.empty()) json["uid"] = user.uid;
  if (!user.groups.empty()) json["groups"] = JsonList(user.groups);
  for (const auto& [key, values] : user.extra) json["extra"][key] = JsonList(values);
  return json;
}

Json::Value ReviewOwnIdentity(const Request& request, absl::Time now) {
  Json::Value answer(Json::objectValue);
  answer["metadata"]["creationTimestamp"] = FormatTimestamp(now);
  answer["status"]["userInfo"] = UserJson(request.user);
  return answer;
}

absl::StatusOr<Json::Value> ReviewToken(const Authenticator& authenticator, Json::Value object) {
  const std::string token = StringAt(object["spec"], "token");
  if (token.empty()) return BadRequest("token is required for TokenReview in authentication");
  const auto checked = authenticator.CheckToken(token, Texts(object["spec"], "audiences"));
  Json::Value status(Json::objectValue);
  if (checked.ok()) {
    status["authenticated"] = true;
    status["user"] = UserJson(checked->user);
    status["audiences"] = JsonList(checked->audiences);
  } else {
    status["user"] = Json::objectValue;
    status["error"] = std::string(checked.status().message());
  }
  object["status"] = status;
  return object;
}

}  // namespace mandate::apiserver
