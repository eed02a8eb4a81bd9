#include "testing/simulation/scope/cluster.h"

#include <cstdlib>
#include <iostream>
#include <set>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"
#include "testing/apiserver/admin_request.h"

namespace mandate::simulation {
namespace {

using apiserver::GroupResource;

const GroupResource kAccounts{"", "serviceaccounts"};
const GroupResource kDefinitions{"apiextensions.k8s.io", "customresourcedefinitions"};

// One line for each write of an object.
void Trace(absl::Time now, const Json::Value& event) {
  const std::string verb = event["verb"].asString();
  const Json::Value& ref = event["objectRef"];
  if (verb == "get" || verb == "list" || verb == "watch" || ref["resource"] == "events" ||
      ref["subresource"] == "token" || ref["resource"].asString().starts_with("selfsubject") ||
      event["stage"] != "ResponseComplete") {
    return;
  }
  std::cout << absl::FormatTime("%H:%M:%E3S", now, absl::UTCTimeZone()) << " "
            << event["userAgent"].asString() << " " << verb << " " << ref["resource"].asString()
            << "/" << ref["subresource"].asString() << " " << ref["namespace"].asString() << "/"
            << ref["name"].asString() << " " << event["responseStatus"]["code"].asInt() << " "
            << event["responseStatus"]["message"].asString() << "\n";
}

}  // namespace

const GroupResource& Templates() {
  static const auto& kind = *new GroupResource{"operators.coreos.com", "scopetemplates"};
  return kind;
}
const GroupResource& Instances() {
  static const auto& kind = *new GroupResource{"operators.coreos.com", "scopeinstances"};
  return kind;
}
const GroupResource& Namespaces() {
  static const auto& kind = *new GroupResource{"", "namespaces"};
  return kind;
}
const GroupResource& ClusterRoles() {
  static const auto& kind = *new GroupResource{"rbac.authorization.k8s.io", "clusterroles"};
  return kind;
}
const GroupResource& RoleBindings() {
  static const auto& kind = *new GroupResource{"rbac.authorization.k8s.io", "rolebindings"};
  return kind;
}
const GroupResource& ClusterRoleBindings() {
  static const auto& kind = *new GroupResource{"rbac.authorization.k8s.io", "clusterrolebindings"};
  return kind;
}

std::string PathOf(const GroupResource& kind, std::string_view ns, std::string_view name) {
  const std::string version = kind.group == "operators.coreos.com" ? "v1alpha1" : "v1";
  std::string path =
      kind.group.empty() ? "/api/v1/" : StrCat("/apis/", kind.group, "/", version, "/");
  if (!ns.empty()) StrAppend(&path, "namespaces/", ns, "/");
  StrAppend(&path, kind.resource);
  if (!name.empty()) StrAppend(&path, "/", name);
  return path;
}

apiserver::SimOptions Cluster::ServerOptions(uint64_t seed) {
  apiserver::SimOptions options;
  options.core.seed = options.core.access.seed = seed;
  options.core.access.audit_sink = [this, trace = std::getenv("TRACE") !=
                                                  nullptr](const std::string& line) {
    const Json::Value event = *ParseJson(line);
    if (trace) Trace(loop_.clock().TimeNow(), event);
    if (audit_) audit_(event);
  };
  apiserver::User base;
  static_cast<rbac::UserInfo&>(base) = rbac::ServiceAccountInfo(kManagerNamespace, kBaseAccount);
  options.core.access.fixed_tokens[kBaseToken] = base;
  for (const Json::Value& object : InstalledObjects()) {
    options.core.objects.push_back(WriteJson(object));
  }
  return options;
}

Cluster::Cluster(SimulatedLoop& loop, uint64_t seed) : loop_(loop) {
  for (const GroupResource& kind : {Templates(), Instances()}) {
    definitions_[kind] = Definition(kind.resource);
  }
  server_ = std::make_unique<apiserver::SimServer>(loop, ServerOptions(seed));
  store().SubscribeAll([this](const apiserver::Change& change) {
    if (change_) change_(change);
  });
  loop_.RunReady();
}

Cluster::~Cluster() {
  server_.reset();
  loop_.RunReady();
}

std::vector<Json::Value> Cluster::List(const GroupResource& kind) {
  std::vector<Json::Value> objects;
  for (const auto& object : store().List(kind)) objects.push_back(object->Parse());
  return objects;
}

Json::Value Cluster::Get(const GroupResource& kind, std::string_view ns, std::string_view name) {
  const auto object = store().Get(kind, ns, name);
  return object == nullptr ? Json::Value() : object->Parse();
}

int Cluster::Create(const GroupResource& kind, const Json::Value& object) {
  return Do("POST", PathOf(kind, object["metadata"]["namespace"].asString()), WriteJson(object));
}

int Cluster::Merge(const GroupResource& kind, std::string_view ns, std::string_view name,
                   const std::string& patch) {
  return Do("PATCH", PathOf(kind, ns, name), patch, "application/merge-patch+json");
}

int Cluster::Delete(const GroupResource& kind, std::string_view ns, std::string_view name,
                    std::string_view policy) {
  return Do("DELETE", PathOf(kind, ns, name),
            policy.empty()
                ? ""
                : StrCat(R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":")",
                         policy, "\"}"));
}

int Cluster::Do(const std::string& method, const std::string& target, const std::string& body,
                const std::string& content_type) {
  const auto code = Send(method, target, body, content_type);
  loop_.RunUntil([&] { return *code != 0; }, absl::Minutes(2));
  server_->transport().ForgetRequests();
  return *code;
}

std::shared_ptr<const int> Cluster::Send(const std::string& method, const std::string& target,
                                         const std::string& body, const std::string& content_type) {
  const auto code = std::make_shared<int>(0);
  server_->transport().Call(
      {loop_.clock().TimeNow() + absl::Minutes(1), {}},
      apiserver::AdminRequest(method, target, body, content_type),
      [code](absl::StatusOr<HttpResponse> answer) { *code = answer.ok() ? answer->code : -1; });
  return code;
}

void Cluster::Grant(const rbac::Mandate& mandate, std::string_view without_verb,
                    std::string_view without_resource) {
  Json::Value patch;
  patch["rules"] = RulesOf(mandate, without_verb, without_resource);
  Merge(ClusterRoles(), "", AccountOf(mandate), WriteJson(patch));
}

void Cluster::Bind(const rbac::Mandate& mandate, bool bound) {
  const std::string name = AccountOf(mandate);
  const bool is = store().Get(ClusterRoleBindings(), "", name) != nullptr;
  if (is == bound) return;
  if (bound) {
    Create(ClusterRoleBindings(), BindingObject("ClusterRoleBinding", "", name, "ClusterRole"));
  } else {
    Delete(ClusterRoleBindings(), "", name);
  }
}

void Cluster::RenewAccount(const rbac::Mandate& mandate) {
  Delete(kAccounts, kManagerNamespace, AccountOf(mandate));
  Create(kAccounts, AccountObject(AccountOf(mandate)));
}

bool Cluster::Serves(const GroupResource& kind) const {
  return server_->core().store().Get(kDefinitions, "", StrCat(kind.resource, ".", kind.group)) !=
         nullptr;
}

void Cluster::CollectOrphansOf(const GroupResource& kind) {
  const std::string owner_kind = kind == Templates() ? "ScopeTemplate" : "ScopeInstance";
  std::set<std::string> there;
  for (const auto& owner : store().List(kind)) there.insert(owner->uid);
  for (const GroupResource& owned : {ClusterRoles(), RoleBindings(), ClusterRoleBindings()}) {
    for (const Json::Value& object : List(owned)) {
      const Json::Value& metadata = object["metadata"];
      const Json::Value& owner = metadata["ownerReferences"][0];
      if (owner["kind"].asString() == owner_kind && !there.contains(owner["uid"].asString())) {
        Delete(owned, metadata["namespace"].asString(), metadata["name"].asString());
      }
    }
  }
}

void Cluster::Serve(const GroupResource& kind, bool served) {
  if (Serves(kind) == served) return;
  if (served) {
    Create(kDefinitions, definitions_[kind]);
    CollectOrphansOf(kind);
  } else {
    Delete(kDefinitions, "", StrCat(kind.resource, ".", kind.group));
  }
}

}  // namespace mandate::simulation
