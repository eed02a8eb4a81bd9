#include "testing/apiserver/access/stored_policy.h"

#include <memory>

#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "manager/object/object_codec.h"
#include "manager/rbac/policy_proto.h"

namespace mandate::apiserver {
namespace {

GroupResource Rbac(std::string_view resource) { return {rbac::kRbacGroup, std::string(resource)}; }

// The object as a value of the policy. The object caches this value.
template <class Message>
const auto& ValueOf(const StoredObject& object) {
  using Value = decltype(rbac::FromProto(Message()));
  if (object.derived == nullptr) {
    // value() cannot fail: this object was decoded as the same kind when it was written.
    object.derived = std::make_shared<const Value>(
        rbac::FromProto(DecodeObject<Message>(object.json, Encoding::kJson).value()));
  }
  return *static_cast<const Value*>(object.derived.get());
}

}  // namespace

const std::vector<rbac::Rule>* StoredPolicy::RulesOfRole(std::string_view ns,
                                                         std::string_view name) const {
  const auto object = objects_.Get(Rbac("roles"), ns, name);
  return object == nullptr ? nullptr : &ValueOf<rbac::v1::Role>(*object).rules;
}

const std::vector<rbac::Rule>* StoredPolicy::RulesOfClusterRole(std::string_view name) const {
  const auto object = objects_.Get(Rbac("clusterroles"), "", name);
  return object == nullptr ? nullptr : &ValueOf<rbac::v1::ClusterRole>(*object).rules;
}

void StoredPolicy::VisitClusterRoleBindings(
    absl::FunctionRef<bool(const rbac::ClusterRoleBinding&)> visit) const {
  for (const auto& object : objects_.List(Rbac("clusterrolebindings"))) {
    if (!visit(ValueOf<rbac::v1::ClusterRoleBinding>(*object))) return;
  }
}

void StoredPolicy::VisitRoleBindings(
    std::string_view ns, absl::FunctionRef<bool(const rbac::RoleBinding&)> visit) const {
  for (const auto& object : objects_.List(Rbac("rolebindings"), ns)) {
    if (!visit(ValueOf<rbac::v1::RoleBinding>(*object))) return;
  }
}

std::vector<std::string> StoredPolicy::BindingNamespaces() const {
  std::vector<std::string> namespaces;
  for (const auto& object : objects_.List(Rbac("rolebindings"))) {
    if (namespaces.empty() || namespaces.back() != object->ns) namespaces.push_back(object->ns);
  }
  return namespaces;
}

}  // namespace mandate::apiserver
