#include "testing/simulation/scope/guardian.h"

#include <string_view>
#include <utility>

#include "controllers/scope/mandates.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/simulation/scope/checker.h"

namespace mandate::simulation {
namespace {

constexpr std::string_view kAccountPrefix = "system:serviceaccount:mandate-system:mandate-manager";
// The message of an audit event whose client's connection closed before the answer was sent.
constexpr char kClosedEarly[] = "Connection closed early";
// A denied narrowing is followed by a deletion within this time.
constexpr absl::Duration kDenied = absl::Minutes(1);

bool IsReview(const Json::Value& ref) {
  return ref["resource"].asString().starts_with("selfsubject");
}

bool IsWriteVerb(const std::string& verb) {
  return verb == "create" || verb == "update" || verb == "patch" || verb == "delete" ||
         verb == "deletecollection";
}

rbac::Attributes AttributesOf(const Json::Value& event) {
  const Json::Value& ref = event["objectRef"];
  rbac::Attributes attributes;
  attributes.verb = event["verb"].asString();
  attributes.is_resource_request = !ref.isNull();
  attributes.api_group = ref["apiGroup"].asString();
  attributes.api_version = ref["apiVersion"].asString();
  attributes.resource = ref["resource"].asString();
  attributes.subresource = ref["subresource"].asString();
  attributes.ns = ref["namespace"].asString();
  attributes.name = ref["name"].asString();
  attributes.path = event["requestURI"].asString();
  return attributes;
}

// Whether a declaration changed, not only the status.
bool Redeclares(const apiserver::Change& change) {
  if (change.resource != Templates() && change.resource != Instances()) return false;
  if (change.type != apiserver::Change::Type::kModified) return true;
  return change.object->deleting != change.previous->deleting ||
         change.object->Parse()["metadata"]["generation"] !=
             change.previous->Parse()["metadata"]["generation"];
}

}  // namespace

Guardian::Guardian(Cluster& cluster, bool prompt) : cluster_(cluster), prompt_(prompt) {
  cluster_.OnAudit([this](const Json::Value& event) { OnAudit(event); });
  // This is destroyed before the cluster.
  cluster_.OnChange([this](const apiserver::Change& change) { OnChange(change); });
}

Guardian::~Guardian() {
  cluster_.OnAudit({});
  cluster_.OnChange({});
}

std::string Guardian::KeyOf(const apiserver::GroupResource& kind, const std::string& ns,
                            const std::string& name) {
  return StrCat(kind.resource, " ", ns, "/", name);
}

std::string Guardian::TemplateOf(const std::string& role) const {
  const auto found = roles_.find(role);
  return found == roles_.end() ? "" : found->second.template_uid;
}

void Guardian::Wrong(const std::string& what, const Json::Value& event) {
  wrong_.push_back(StrCat(what, ": ", WriteJson(event)));
}

void Guardian::OnAudit(const Json::Value& event) {
  if (event["stage"] == "ResponseStarted" || event["stage"] == "RequestReceived") return;
  const std::string user = event["user"]["username"].asString();
  const bool agent_is_ours = event["userAgent"].asString().starts_with("mandate-manager/");
  if (!agent_is_ours && !user.starts_with(kAccountPrefix)) return;
  ++requests_;
  // A rejected token has no user; neither has a request whose connection closed before
  // authentication.
  const int code = event["responseStatus"]["code"].asInt();
  const bool cut = event["responseStatus"]["message"] == kClosedEarly;
  if (code == 401 || (cut && user.empty())) return;
  JudgeIdentity(event, user);
  const Json::Value& ref = event["objectRef"];
  if (user == kAccountPrefix || IsReview(ref)) return;
  JudgeMandate(event, user.substr(std::min(user.size(), kAccountPrefix.size() + 1)));
  if (!IsWriteVerb(event["verb"].asString()) || ref["resource"] == "events") return;
  const std::string key = StrCat(ref["resource"].asString(), " ", ref["namespace"].asString(), "/",
                                 ref["name"].asString());
  if (code == 403) denied_[key] = Now();
  if (code >= 300) return;
  // The code of a request that was cut does not show whether the server carried it out.
  if (cut && changed_[key] != Now()) return;
  ++writes_;
  JudgeWrite(event, key);
}

void Guardian::JudgeIdentity(const Json::Value& event, const std::string& user) {
  const Json::Value& ref = event["objectRef"];
  if (ref["subresource"] == "token") {
    if (user != kAccountPrefix) Wrong("a token was not asked for by base", event);
    issued_.insert(
        event["annotations"]["authentication.kubernetes.io/issued-credential-id"].asString());
    return;
  }
  const std::string agent = event["userAgent"].asString();
  const std::string component = agent.substr(agent.rfind(' ') + 1);
  if (user != StrCat(kAccountPrefix, "-", component)) Wrong("a borrowed identity", event);
  const std::string credential =
      event["user"]["extra"]["authentication.kubernetes.io/credential-id"][0].asString();
  if (!issued_.contains(credential)) Wrong("a token that base never asked for", event);
}

void Guardian::JudgeMandate(const Json::Value& event, const std::string& component) {
  // Every user may use discovery.
  if (event["objectRef"].isNull()) return;
  const rbac::Mandate& mandate =
      component == kScopeTemplate.component ? kScopeTemplate : kScopeInstance;
  if (!rbac::PermitsRequest(mandate, AttributesOf(event))) Wrong("beyond its mandate", event);
}

void Guardian::JudgeWrite(const Json::Value& event, const std::string& key) {
  // Created, perhaps by an apply: the former object of this name was deleted with its namespace.
  if (event["responseStatus"]["code"] == 201) foreign_.erase(key);
  if (foreign_.contains(key)) Wrong("something foreign was changed", event);
  JudgeGiven(event);
  const auto gone = last_gone_.find(key);
  if (event["verb"] != "delete" || gone == last_gone_.end() || !prompt_) return;
  const Life life = gone->second;
  // A deletion that only set deletionTimestamp removed no grant.
  if (life.gone != Now() || taken_roles_.contains(life.role)) return;
  // A binding that must be narrowed is deleted if its narrowing is denied.
  const auto denied = denied_.find(key);
  if (denied != denied_.end() && Now() - denied->second < kDenied) return;
  const auto wanted = wanted_.find(life.grant);
  if (life.ours && wanted != wanted_.end() && life.born > wanted->second) {
    Wrong(StrCat("taken away, though wanted for ", absl::FormatDuration(Now() - wanted->second)),
          event);
  }
}

void Guardian::JudgeGiven(const Json::Value& event) {
  if (!prompt_) return;
  const Json::Value& ref = event["objectRef"];
  const std::string kind = ref["resource"].asString(), name = ref["name"].asString();
  std::vector<std::string> given;
  if (kind == ClusterRoles().resource) given = rights_.GivenByRole(name, Now());
  if (kind == RoleBindings().resource || kind == ClusterRoleBindings().resource) {
    given = rights_.GivenByBinding(StrCat(ref["namespace"].asString(), "/", name), Now());
  }
  for (const std::string& one : given) Wrong(StrCat(one, ", which was never declared"), event);
}

void Guardian::OnChange(const apiserver::Change& change) {
  changed_[KeyOf(change.resource, change.object->ns, change.object->name)] = Now();
  const bool grant = change.resource == RoleBindings() || change.resource == ClusterRoleBindings();
  if (grant || change.resource == ClusterRoles()) rights_.OnChange(change, Now());
  if (grant) return OnGrant(change);
  if (change.resource == ClusterRoles()) {
    const Json::Value role = change.object->Parse();
    const std::string owner = ControllerOf(role, "ScopeTemplate");
    if (!owner.empty()) roles_[change.object->name] = {owner, GenerateNameOf(change.object->name)};
  }
  if (change.resource == Namespaces() || Redeclares(change)) OnDeclared();
}

void Guardian::OnDeclared() {
  if (!prompt_) return;
  Declared declared = Declare(cluster_);
  const Expected expected = Expect(declared);
  std::erase_if(wanted_, [&](const auto& one) { return !expected.grants.contains(one.first); });
  for (const auto& [grant, subjects] : expected.grants) wanted_.try_emplace(grant, Now());
  rights_.OnDeclared(std::move(declared), Now());
}

void Guardian::OnGrant(const apiserver::Change& change) {
  if (!prompt_) return;
  const std::string& uid = change.object->uid;
  if (change.type == apiserver::Change::Type::kAdded) {
    const Json::Value binding = change.object->Parse();
    const std::string owner = ControllerOf(binding, "ScopeInstance");
    const auto role = roles_.find(binding["roleRef"]["name"].asString());
    lives_[uid] = {Now(),
                   !owner.empty() && role != roles_.end(),
                   {owner, role == roles_.end() ? RoleId{} : role->second, change.object->ns},
                   binding["roleRef"]["name"].asString()};
  }
  if (change.type == apiserver::Change::Type::kDeleted) {
    lives_[uid].gone = Now();
    last_gone_[KeyOf(change.resource, change.object->ns, change.object->name)] = lives_[uid];
    lives_.erase(uid);
  }
}

}  // namespace mandate::simulation
