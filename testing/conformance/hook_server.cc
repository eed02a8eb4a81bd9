#include "testing/conformance/hook_server.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "manager/core/status_macros.h"
#include "manager/object/json.h"

namespace mandate::conformance {
namespace {

// The path without its slash and query.
std::string NameOf(const std::string& target) {
  return target.substr(
      1, target.find('?') == std::string::npos ? std::string::npos : target.find('?') - 1);
}

std::string ReviewWith(Json::Value response, const Json::Value& review) {
  if (!response.isMember("uid")) response["uid"] = review["request"]["uid"];
  if (response["patch"].isArray()) {
    response["patch"] = absl::Base64Escape(WriteJson(response["patch"]));
    response["patchType"] = "JSONPatch";
  } else if (response["patch"].isNull()) {
    response.removeMember("patch");
  }
  Json::Value answer;
  answer["apiVersion"] = review["apiVersion"];
  answer["kind"] = review["kind"];
  answer["response"] = std::move(response);
  return WriteJson(answer);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HookServer>> HookServer::Create() {
  std::unique_ptr<HookServer> hooks(new HookServer);
  HookServer* self = hooks.get();
  ASSIGN_OR_RETURN(hooks->server_, H2Server::Create({.ca = &hooks->ca_},
                                                    [self](std::shared_ptr<ServerStream> stream) {
                                                      self->Answer(*stream);
                                                    }));
  return hooks;
}

std::string HookServer::CaBundle() const { return absl::Base64Escape(ca_.certificate_pem()); }

void HookServer::Serve(const std::string& name, Json::Value answer) {
  MutexLock lock(mutex_);
  answers_[name] = std::move(answer);
}

Json::Value HookServer::Received(const std::string& name) {
  MutexLock lock(mutex_);
  const auto found = received_.find(name);
  return found == received_.end() ? Json::Value(Json::arrayValue) : found->second;
}

void HookServer::Answer(ServerStream& stream) {
  const std::string name = NameOf(stream.request().target);
  const auto review = ParseJson(stream.request().body);
  Json::Value answer;
  {
    MutexLock lock(mutex_);
    if (review.ok()) received_[name].append(*review);
    answer = answers_[name];
  }
  if (answer.isMember("code") && answer.isMember("raw")) {
    stream.Respond(answer["code"].asInt(), answer["raw"].asString());
  } else if (!review.ok() || !review->isObject() || !(*review)["request"].isObject()) {
    stream.Respond(400, "no AdmissionReview");
  } else {
    stream.Respond(200, ReviewWith(std::move(answer), *review));
  }
}

}  // namespace mandate::conformance
