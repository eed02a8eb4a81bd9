#include "testing/apiserver/access/policy_source.h"

#include <tuple>
#include <utility>
#include <vector>

#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "manager/object/object_codec.h"
#include "manager/rbac/policy_proto.h"

namespace mandate::apiserver {
namespace {

bool Before(const StoredObject& a, const StoredObject& b) {
  return std::tie(a.ns, a.name) < std::tie(b.ns, b.name);
}

}  // namespace

template <class Message, class Value>
bool PolicySource::Update(const char* resource, Kind<Value>& kind) const {
  const GroupResource rbac{rbac::kRbacGroup, resource};
  const int64_t last_change = objects_.LastChange(rbac);
  if (last_change == kind.last_change) return false;
  Kind<Value> now{.last_change = last_change, .objects = objects_.List(rbac), .values = {}};
  now.values.reserve(now.objects.size());
  size_t i = 0;  // both lists are sorted
  for (const auto& object : now.objects) {
    while (i < kind.objects.size() && Before(*kind.objects[i], *object)) ++i;
    if (i < kind.objects.size() && kind.objects[i] == object) {
      now.values.push_back(std::move(kind.values[i]));
    } else {
      // value() holds: the write of this object was decoded as the same kind.
      now.values.push_back(
          rbac::FromProto(DecodeObject<Message>(object->json, Encoding::kJson).value()));
    }
  }
  kind = std::move(now);
  return true;
}

std::shared_ptr<const rbac::Authorizer> PolicySource::Current() {
  bool changed = authorizer_ == nullptr;
  changed |= Update<rbac::v1::Role>("roles", roles_);
  changed |= Update<rbac::v1::ClusterRole>("clusterroles", cluster_roles_);
  changed |= Update<rbac::v1::RoleBinding>("rolebindings", role_bindings_);
  changed |= Update<rbac::v1::ClusterRoleBinding>("clusterrolebindings", cluster_role_bindings_);
  if (changed) {
    authorizer_ = std::make_shared<rbac::Authorizer>(
        rbac::Policy{.roles = roles_.values,
                     .cluster_roles = cluster_roles_.values,
                     .role_bindings = role_bindings_.values,
                     .cluster_role_bindings = cluster_role_bindings_.values});
  }
  return authorizer_;
}

}  // namespace mandate::apiserver
