#include "testing/conformance/session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "manager/core/clock.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::conformance {
namespace {

constexpr char kRbac[] = "rbac.authorization.k8s.io";
// No row tests how soon a grant takes effect. After a restart of etcd, the server lists roles again
// only after a backoff of up to half a minute.
constexpr absl::Duration kGrantPatience = absl::Minutes(5);

Json::Value Object(std::string_view api_version, std::string_view kind, const std::string& name) {
  Json::Value object;
  object["apiVersion"] = std::string(api_version);
  object["kind"] = std::string(kind);
  object["metadata"]["name"] = name;
  return object;
}

std::string First(const Json::Value& rule, const char* member) {
  const Json::Value& list = rule[member];
  return list.isArray() && !list.empty() ? list[0].asString() : "";
}

}  // namespace

absl::StatusOr<Json::Value> Session::Do(const std::string& method, const std::string& target,
                                        const Json::Value& body) {
  Request request{.method = method,
                  .target = target,
                  .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
                  .body = WriteJson(body),
                  .has_body = !body.isNull(),
                  .certificate = false};
  RETURN_IF_ERROR(Authenticate("admin", "", request));
  ASSIGN_OR_RETURN(const Response response, http_.Send(request));
  if (response.code < 200 || response.code > 299) {
    return absl::FailedPreconditionError(
        StrCat("setting up: ", method, " ", target, ": ", response.code, " ", response.body));
  }
  return ParseJson(response.body);
}

absl::Status Session::CreateNamespace() {
  return Do("POST", "/api/v1/namespaces", Object("v1", "Namespace", id_)).status();
}

absl::Status Session::CreateAccount(const std::string& account) {
  const std::string accounts = StrCat("/api/v1/namespaces/", id_, "/serviceaccounts");
  const absl::Status created =
      Do("POST", accounts, Object("v1", "ServiceAccount", account)).status();
  // The row may have created the account itself.
  if (!created.ok() && !absl::StrContains(created.message(), "AlreadyExists")) return created;
  Json::Value request = Object("authentication.k8s.io/v1", "TokenRequest", "");
  request.removeMember("metadata");
  request["spec"] = Json::Value(Json::objectValue);
  ASSIGN_OR_RETURN(const Json::Value answer,
                   Do("POST", StrCat(accounts, "/", account, "/token"), request));
  tokens_[account] = answer["status"]["token"].asString();
  return absl::OkStatus();
}

absl::Status Session::Authenticate(const std::string& as, const std::string& token,
                                   Request& request) {
  std::string bearer = token;
  if (bearer.empty() && as == "admin") {
    bearer = target_.token;
    request.certificate = bearer.empty();
  } else if (bearer.empty() && as != "nobody") {
    if (!tokens_.contains(as)) RETURN_IF_ERROR(CreateAccount(as));
    bearer = tokens_[as];
  }
  if (!bearer.empty()) request.headers.emplace_back("Authorization", StrCat("Bearer ", bearer));
  return absl::OkStatus();
}

absl::StatusOr<bool> Session::MayAlready(const std::string& account, const Json::Value& rule,
                                         bool everywhere) {
  Json::Value review;
  review["apiVersion"] = "authorization.k8s.io/v1";
  review["kind"] = "SubjectAccessReview";
  review["spec"]["user"] = StrCat("system:serviceaccount:", id_, ":", account);
  if (rule.isMember("nonResourceURLs")) {
    review["spec"]["nonResourceAttributes"]["path"] = First(rule, "nonResourceURLs");
    review["spec"]["nonResourceAttributes"]["verb"] = First(rule, "verbs");
  } else {
    Json::Value& attributes = review["spec"]["resourceAttributes"];
    const std::string resource = First(rule, "resources");
    const size_t slash = resource.find('/');
    attributes["verb"] = First(rule, "verbs");
    attributes["group"] = First(rule, "apiGroups");
    attributes["resource"] = resource.substr(0, slash);
    if (slash != std::string::npos) attributes["subresource"] = resource.substr(slash + 1);
    if (rule.isMember("resourceNames")) attributes["name"] = First(rule, "resourceNames");
    if (!everywhere) attributes["namespace"] = id_;
  }
  ASSIGN_OR_RETURN(const Json::Value answer,
                   Do("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review));
  return answer["status"]["allowed"].asBool();
}

absl::Status Session::Allow(const std::string& account, const Json::Value& rules, bool everywhere) {
  if (!tokens_.contains(account)) RETURN_IF_ERROR(CreateAccount(account));
  const std::string api = StrCat("/apis/", kRbac, "/v1/");
  const std::string prefix = everywhere ? "cluster" : StrCat("namespaces/", id_, "/");
  const std::string kind = everywhere ? "ClusterRole" : "Role";
  const std::string version = StrCat(kRbac, "/v1");
  const std::string name = StrCat(id_, "-", account, "-", ++grants_);
  Json::Value role = Object(version, kind, name);
  role["rules"] = rules;
  Json::Value binding = Object(version, StrCat(kind, "Binding"), name);
  binding["roleRef"]["apiGroup"] = kRbac;
  binding["roleRef"]["kind"] = kind;
  binding["roleRef"]["name"] = name;
  binding["subjects"][0]["kind"] = "ServiceAccount";
  binding["subjects"][0]["name"] = account;
  binding["subjects"][0]["namespace"] = id_;
  for (const auto& [plural, object] :
       {std::pair{"roles", &role}, std::pair{"rolebindings", &binding}}) {
    const std::string collection = StrCat(api, prefix, plural);
    RETURN_IF_ERROR(Do("POST", collection, *object).status());
    if (everywhere) created_.push_back(StrCat(collection, "/", name));
  }
  const absl::Time deadline = Clock::Real().TimeNow() + kGrantPatience;
  for (const Json::Value& rule : rules) {
    for (;;) {
      ASSIGN_OR_RETURN(const bool may, MayAlready(account, rule, everywhere));
      if (may) break;
      if (Clock::Real().TimeNow() > deadline) {
        return absl::UnavailableError(StrCat("the grant had no effect in time: ", WriteJson(rule)));
      }
      http_.Await([] { return false; }, absl::Milliseconds(10));
    }
  }
  return absl::OkStatus();
}

void Session::Note(const Request& request, const Response& response) {
  const bool in_namespace = absl::StrContains(request.target, "/namespaces/" + id_);
  if (response.code != 201 || in_namespace || absl::StrContains(request.target, "dryRun")) return;
  std::string path = request.target.substr(0, request.target.find('?'));
  if (request.method == "POST") {
    const auto body = ParseJson(response.body);
    const Json::Value* metadata = body.ok() ? FindMember(*body, "metadata") : nullptr;
    const Json::Value* name = metadata == nullptr ? nullptr : FindMember(*metadata, "name");
    if (name == nullptr || !name->isString() || absl::EndsWith(path, "reviews")) return;
    StrAppend(&path, "/", name->asString());
  }
  created_.push_back(path);
}

void Session::CleanUp() {
  std::reverse(created_.begin(), created_.end());
  for (const std::string& path : created_) {
    (void)Do("DELETE", path, Json::nullValue);
  }
  created_.clear();
}

}  // namespace mandate::conformance
