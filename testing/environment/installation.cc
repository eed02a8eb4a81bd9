#include "testing/environment/installation.h"

#include <cstdlib>
#include <list>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

constexpr KindInfo kNamespace = BuiltIn("", "Namespace", "namespaces", Scope::kCluster);
constexpr KindInfo kServiceAccount = BuiltIn("", "ServiceAccount", "serviceaccounts");

// The permission that `rbacgen mutate` removes (manager/client/testing/mandate_server.h).
std::string Mutation() {
  const char* const without = std::getenv("MANDATE_WITHOUT");
  return without == nullptr ? "" : without;
}

bool Has(const rbac::Mandate& mandate, const std::string& permission) {
  const rbac::MandateWithout all(mandate, ""), rest(mandate, permission);
  return rest.get().rules.size() < all.get().rules.size();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Installation>> Installation::Create(Options options) {
  std::unique_ptr<Installation> made(new Installation(std::move(options)));
  RETURN_IF_ERROR(made->Build());
  return made;
}

absl::Status Installation::Build() {
  RETURN_IF_ERROR(AddNamespaces());
  for (const rbac::Mandate* mandate : options_.components) {
    Component& component = components_[std::string(mandate->component)];
    component.declared = mandate;
    for (const ApiObject& role : Roles(component)) RETURN_IF_ERROR(Create(role).status());
    for (const ApiObject& o : SubjectsOf(ns_, *mandate)) RETURN_IF_ERROR(Create(o).status());
  }
  for (const ApiObject& object : ObjectsOfBase(ns_, options_.components)) {
    RETURN_IF_ERROR(Create(object).status());
  }
  return RequestBaseToken();
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

absl::Status Installation::RequestBaseToken() {
  Json::Value request;
  request["apiVersion"] = "authentication.k8s.io/v1";
  request["kind"] = "TokenRequest";
  request["spec"]["expirationSeconds"] = 3600;
  ASSIGN_OR_RETURN(
      const Json::Value answer,
      Send("POST", ResourceTarget(kServiceAccount, {ns_, kBaseAccount}, "token"), request));
  base_token_ = std::make_shared<const Secret>(answer["status"]["token"].asString());
  return absl::OkStatus();
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

absl::Status Installation::GrantExternal(const rbac::Mandate& mandate, const std::string& in) {
  RETURN_IF_ERROR(Find(mandate.component).status());
  return Create(ExternalBindingOf(ns_, mandate, in)).status();
}

absl::Status Installation::DenyExternal(const rbac::Mandate& mandate, const std::string& in) {
  const ApiObject binding = ExternalBindingOf(ns_, mandate, in);
  return Send("DELETE", ResourceTarget(binding.kind, binding.Key()), {}).status();
}

std::vector<ApiObject> Installation::Roles(const Component& component) const {
  const rbac::Mandate& declared = *component.declared;
  if (component.denied_all) return RolesOf(ns_, declared, {declared.component, {}});
  std::list<rbac::MandateWithout> granted;  // each is a part of the one before
  granted.emplace_back(declared, Mutation());
  for (const std::string& permission : component.denied) {
    granted.emplace_back(granted.back().get(), permission);
  }
  return RolesOf(ns_, declared, granted.back().get());
}

absl::Status Installation::WriteRoles(const Component& component) {
  for (const ApiObject& role : Roles(component)) {
    Json::Value patch;
    patch["rules"] = role.json["rules"];
    RETURN_IF_ERROR(Send("PATCH", ResourceTarget(role.kind, role.Key()), patch).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<Json::Value> Installation::Create(const ApiObject& object) {
  return Send("POST", ResourceTarget(object.kind, {object.Key().ns, ""}), object.json);
}

absl::StatusOr<Json::Value> Installation::Send(std::string method, std::string target,
                                               const Json::Value& body) {
  RestRequest request;
  request.idempotent = method != "POST";
  if (method == "PATCH") request.content_type = "application/merge-patch+json";
  request.method = std::move(method);
  request.target = std::move(target);
  if (!body.isNull()) request.body = WriteJson(body);
  ASSIGN_OR_RETURN(const HttpResponse response,
                   options_.administrator.client().Do(
                       options_.administrator.Within(options_.patience), std::move(request)));
  return ParseJson(response.body);
}

}  // namespace mandate
