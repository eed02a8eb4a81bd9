#include "testing/environment/installation.h"

#include <cstdlib>
#include <list>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"
#include "testing/environment/access_wait.h"
#include "testing/environment/object_wait.h"

namespace mandate {
namespace {

// JSON, so that an error can print one that still exists.
constexpr KindInfo kNamespace = {.group = "",
                                 .version = "v1",
                                 .kind = "Namespace",
                                 .plural = "namespaces",
                                 .scope = Scope::kCluster};
constexpr KindInfo kDefinition = {.group = "apiextensions.k8s.io",
                                  .version = "v1",
                                  .kind = "CustomResourceDefinition",
                                  .plural = "customresourcedefinitions",
                                  .scope = Scope::kCluster};
constexpr KindInfo kServiceAccount = BuiltIn("", "ServiceAccount", "serviceaccounts");

bool Has(const rbac::Mandate& mandate, const std::string& permission) {
  const rbac::MandateWithout all(mandate, ""), rest(mandate, permission);
  return rest.get().rules.size() < all.get().rules.size();
}

bool IsEstablished(const RawObjects& definition) {
  if (definition.empty()) return false;
  const absl::StatusOr<Json::Value> json = ParseJson(definition.begin()->second->bytes());
  if (!json.ok()) return false;
  for (const Json::Value& condition : (*json)["status"]["conditions"]) {
    if (condition["type"] == "Established") return condition["status"] == "True";
  }
  return false;
}

std::string UserOf(const std::string& ns, const std::string& account) {
  return rbac::ServiceAccountInfo(ns, account).name;
}

}  // namespace

std::string RemovedPermission() {
  const char* const without = std::getenv("MANDATE_WITHOUT");
  return without == nullptr ? "" : without;
}

absl::StatusOr<std::unique_ptr<Installation>> Installation::Create(Options options) {
  std::unique_ptr<Installation> made(new Installation(std::move(options)));
  if (absl::Status built = made->Build(); !built.ok()) {
    made->Remove().IgnoreError();
    return built;
  }
  return made;
}

absl::Status Installation::Build() {
  RETURN_IF_ERROR(AddDefinitions());
  RETURN_IF_ERROR(AddNamespaces());
  for (const rbac::Mandate* mandate : options_.components) RETURN_IF_ERROR(AddComponent(*mandate));
  return AddBase();
}

absl::Status Installation::AddDefinitions() {
  for (const Json::Value& json : options_.definitions) {
    const ApiObject definition{kDefinition, json};
    absl::Status added = Create(definition).status();
    if (IsAlreadyExists(added)) {
      const std::string target =
          ResourceTarget(kDefinition, definition.Key(), "",
                         {{"fieldManager", "administrator"}, {"force", "true"}});
      added = Send("PATCH", target, json, "application/apply-patch+yaml").status();
    }
    RETURN_IF_ERROR(added);
    RETURN_IF_ERROR(AwaitObjects(
        options_.administrator,
        {kDefinition, definition.Key(), options_.patience, "is not established"}, IsEstablished));
  }
  return absl::OkStatus();
}

absl::Status Installation::AddComponent(const rbac::Mandate& mandate) {
  Component& component = components_[std::string(mandate.component)];
  component.declared = &mandate;
  const auto granted = GrantedOf(component);
  for (const ApiObject& role : RolesOf(ns_, mandate, granted.back().get())) {
    RETURN_IF_ERROR(Create(role).status());
  }
  for (const ApiObject& o : SubjectsOf(ns_, mandate)) RETURN_IF_ERROR(Create(o).status());
  return AwaitRoles(mandate, granted.back().get());
}

absl::Status Installation::AwaitRoles(const rbac::Mandate& declared, const rbac::Mandate& granted) {
  return AwaitAccess(options_.administrator, options_.patience, UserOf(ns_, AccountOf(declared)),
                     ExpectedAccessOf(declared, granted, ns_));
}

absl::Status Installation::AddNamespaces() {
  ApiObject own{kNamespace, {}};
  own.json["apiVersion"] = "v1";
  own.json["kind"] = "Namespace";
  own.json["metadata"]["generateName"] = "mandate-test-";
  ASSIGN_OR_RETURN(const Json::Value created, Create(own));
  ns_ = created["metadata"]["name"].asString();
  std::set<std::string> others(options_.namespaces.begin(), options_.namespaces.end());
  for (const rbac::Mandate* mandate : options_.components) {
    for (std::string& ns : NamespacesOf(*mandate)) others.insert(std::move(ns));
  }
  own.json["metadata"].removeMember("generateName");
  for (const std::string& other : others) {
    own.json["metadata"]["name"] = other;
    if (const absl::Status s = Create(own).status(); !IsAlreadyExists(s)) RETURN_IF_ERROR(s);
  }
  return absl::OkStatus();
}

absl::Status Installation::AddBase() {
  for (const ApiObject& object : ObjectsOfBase(ns_, options_.components)) {
    RETURN_IF_ERROR(Create(object).status());
  }
  Json::Value request;
  request["apiVersion"] = "authentication.k8s.io/v1";
  request["kind"] = "TokenRequest";
  request["spec"]["expirationSeconds"] = 3600;
  ASSIGN_OR_RETURN(
      const Json::Value answer,
      Send("POST", ResourceTarget(kServiceAccount, {ns_, kBaseAccount}, "token"), request));
  base_token_ = std::make_shared<const Secret>(answer["status"]["token"].asString());
  return AwaitAccess(options_.administrator, options_.patience, UserOf(ns_, kBaseAccount),
                     {{{ns_,
                        {.verbs = {"get"},
                         .api_groups = {"coordination.k8s.io"},
                         .resources = {"leases"},
                         .resource_names = {kBaseAccount}}}}});
}

absl::Status Installation::Remove() {
  absl::Status result;
  for (auto object = created_.rbegin(); object != created_.rend(); ++object) {
    const ObjectKey key = object->Key();
    if (!key.ns.empty() && key.ns == ns_) continue;  // it goes with the namespace
    const absl::Status gone = Send("DELETE", ResourceTarget(object->kind, key), {}).status();
    if (!IsNotFound(gone)) result.Update(gone);
  }
  for (const ApiObject& object : created_) {
    const bool is_shared = object.kind == kDefinition || object.kind == kNamespace;
    if (!is_shared || object.Key().name == ns_) continue;
    result.Update(AwaitObjects(options_.administrator,
                               {object.kind, object.Key(), options_.patience, "still exists"},
                               [](const RawObjects& raw) { return raw.empty(); }));
  }
  created_.clear();
  return result;
}

absl::StatusOr<Installation::Component*> Installation::Find(std::string_view name) {
  const auto found = components_.find(name);
  if (found != components_.end()) return &found->second;
  return absl::InvalidArgumentError(
      StrCat("component ", name, " does not run here; add it to the components"));
}

absl::Status Installation::Deny(const rbac::Permission& permission) {
  ASSIGN_OR_RETURN(Component* const component, Find(permission.component));
  if (!Has(*component->declared, permission.ToString())) {
    return absl::InvalidArgumentError(StrCat(
        "no marker declares \"", permission.ToString(),
        "\"; the fields are the component, the verb, the group (empty: core) and the resource"));
  }
  component->denied.insert(permission.ToString());
  return WriteRoles(*component);
}

absl::Status Installation::Deny(const rbac::Mandate& mandate) {
  ASSIGN_OR_RETURN(Component* const component, Find(mandate.component));
  component->denied_all = true;
  return WriteRoles(*component);
}

absl::Status Installation::Grant(const rbac::Permission& permission) {
  ASSIGN_OR_RETURN(Component* const component, Find(permission.component));
  if (component->denied.erase(permission.ToString()) == 0) {
    return absl::InvalidArgumentError(
        StrCat("\"", permission.ToString(), "\" is not denied; Deny() it first"));
  }
  return WriteRoles(*component);
}

absl::Status Installation::Grant(const rbac::Mandate& mandate) {
  ASSIGN_OR_RETURN(Component* const component, Find(mandate.component));
  component->denied_all = false;
  component->denied.clear();
  return WriteRoles(*component);
}

absl::Status Installation::GrantExternal(const rbac::Mandate& mandate, const ObjectKey& where) {
  ASSIGN_OR_RETURN(Component* const component, Find(mandate.component));
  for (const ApiObject& object : ExternalGrantOf(ns_, mandate, where)) {
    RETURN_IF_ERROR(Create(object).status());
  }
  component->external.insert(where);
  return AwaitExternal(*component, where, true);
}

absl::Status Installation::DenyExternal(const rbac::Mandate& mandate, const ObjectKey& where) {
  ASSIGN_OR_RETURN(Component* const component, Find(mandate.component));
  for (const ApiObject& object : ExternalGrantOf(ns_, mandate, where)) {
    RETURN_IF_ERROR(Send("DELETE", ResourceTarget(object.kind, object.Key()), {}).status());
  }
  component->external.erase(where);
  const auto granted = [&](const ObjectKey& wider) { return component->external.contains(wider); };
  const bool still = granted({}) || granted({where.ns, ""}) || granted({"", where.name});
  return still ? absl::OkStatus() : AwaitExternal(*component, where, false);
}

absl::Status Installation::AwaitExternal(const Component& component, const ObjectKey& where,
                                         bool allowed) {
  // What is denied stays denied.
  const auto granted = GrantedOf(component);
  return AwaitAccess(options_.administrator, options_.patience,
                     UserOf(ns_, AccountOf(*component.declared)),
                     ExpectedExternalAccessOf(granted.back().get(), where, allowed));
}

// The last element is the mandate without what is denied. Each is a part of the one before.
std::list<rbac::MandateWithout> Installation::GrantedOf(const Component& component) {
  const rbac::Mandate& declared = *component.declared;
  std::list<rbac::MandateWithout> granted;
  granted.emplace_back(component.denied_all ? rbac::Mandate{declared.component, {}} : declared,
                       RemovedPermission());
  for (const std::string& permission : component.denied) {
    granted.emplace_back(granted.back().get(), permission);
  }
  return granted;
}

absl::Status Installation::WriteRoles(const Component& component) {
  const auto granted = GrantedOf(component);
  for (const ApiObject& role : RolesOf(ns_, *component.declared, granted.back().get())) {
    Json::Value patch;
    patch["rules"] = role.json["rules"];
    RETURN_IF_ERROR(
        Send("PATCH", ResourceTarget(role.kind, role.Key()), patch, "application/merge-patch+json")
            .status());
  }
  return AwaitRoles(*component.declared, granted.back().get());
}

absl::StatusOr<Json::Value> Installation::Create(const ApiObject& object) {
  ASSIGN_OR_RETURN(Json::Value created,
                   Send("POST", ResourceTarget(object.kind, {object.Key().ns, ""}), object.json));
  created_.push_back({object.kind, created});
  return created;
}

absl::StatusOr<Json::Value> Installation::Send(std::string method, std::string target,
                                               const Json::Value& body, std::string content_type) {
  RestRequest request;
  request.idempotent = method != "POST";
  request.content_type = std::move(content_type);
  request.method = std::move(method);
  request.target = std::move(target);
  if (!body.isNull()) request.body = WriteJson(body);
  ASSIGN_OR_RETURN(const HttpResponse response,
                   options_.administrator.client().Do(
                       options_.administrator.Within(options_.patience), std::move(request)));
  return ParseJson(response.body);
}

}  // namespace mandate
