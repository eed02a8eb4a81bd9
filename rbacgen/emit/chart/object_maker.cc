#include "rbacgen/emit/chart/object_maker.h"

#include "absl/strings/str_join.h"
#include "manager/rbac/mandate.h"

namespace mandate::rbacgen {
namespace {

constexpr char kRbacVersion[] = "rbac.authorization.k8s.io/v1";
constexpr char kRbacGroup[] = "rbac.authorization.k8s.io";
constexpr char kJustification[] = "mandate.io/justification";

}  // namespace

std::string ChartNames::PartOf() const {
  if (!part_of.empty()) return part_of;
  constexpr std::string_view kSuffix = "-manager";
  return base.ends_with(kSuffix) ? base.substr(0, base.size() - kSuffix.size()) : base;
}

Yaml::Map ObjectMaker::Object(const std::string& version, const std::string& kind,
                              const std::string& name, const Yaml& ns) const {
  Yaml::Map metadata = {
      {"labels", Yaml::Map{{"app.kubernetes.io/component", component_},
                           {"app.kubernetes.io/managed-by", switches_.ManagedBy()},
                           {"app.kubernetes.io/name", names_.base},
                           {"app.kubernetes.io/part-of", names_.PartOf()}}},
      {"name", name}};
  if (!ns.IsNull()) metadata["namespace"] = ns;
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
}

void ObjectMaker::Add(Yaml::Map object, const Yaml::Condition& condition) {
  out_.push_back(Yaml::If(condition, std::move(object)));
}

void ObjectMaker::Role(const std::string& name, const Yaml& ns, Yaml rules,
                       const std::vector<std::string>& justifications,
                       const Yaml::Condition& condition) {
  Yaml::Map object = Object(kRbacVersion, ns.IsNull() ? "ClusterRole" : "Role", name, ns);
  if (!justifications.empty()) {
    object["metadata"]["annotations"] =
        Yaml::Map{{kJustification, absl::StrJoin(justifications, "\n")}};
  }
  object["rules"] = std::move(rules);
  Add(std::move(object), condition);
}

void ObjectMaker::Binding(const std::string& role, const Yaml& ns, Yaml::List subjects,
                          const Yaml::Condition& condition) {
  const std::string kind = ns.IsNull() ? "ClusterRole" : "Role";
  Add(BindingObject(role, kind, role, ns, std::move(subjects)), condition);
}

void ObjectMaker::BindingInWatchedNamespaces(const std::string& role, Yaml::List subjects) {
  Yaml::Map object = BindingObject(role + "-watched", "ClusterRole", role, Yaml::EachString(),
                                   std::move(subjects));
  out_.push_back(Yaml::ForEach(switches_.WatchedNamespaces(), std::move(object)));
}

Yaml::Map ObjectMaker::BindingObject(const std::string& name, const std::string& role_kind,
                                     const std::string& role, const Yaml& ns,
                                     Yaml::List subjects) const {
  Yaml::Map object =
      Object(kRbacVersion, ns.IsNull() ? "ClusterRoleBinding" : "RoleBinding", name, ns);
  object["roleRef"] = Yaml::Map{{"apiGroup", kRbacGroup}, {"kind", role_kind}, {"name", role}};
  object["subjects"] = std::move(subjects);
  return object;
}

Yaml ObjectMaker::NamespaceOf(const std::string& grant_ns) const {
  if (grant_ns == rbac::kManagerNamespace) return switches_.Namespace();
  return grant_ns.empty() ? Yaml() : Yaml(grant_ns);
}

Yaml ObjectMaker::Subject(const std::string& account) const {
  return Yaml::Map{
      {"kind", "ServiceAccount"}, {"name", account}, {"namespace", switches_.Namespace()}};
}

Yaml::List ObjectMaker::Requesters() const {
  return {Yaml::If(!switches_.SingleMode(), Subject(account_)),
          Yaml::If(switches_.SingleMode(), Subject(names_.base))};
}

}  // namespace mandate::rbacgen
