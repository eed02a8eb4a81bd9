#include "testing/apiserver/access/policy_source.h"

#include <utility>
#include <vector>

#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "manager/object/object_codec.h"
#include "manager/rbac/policy_proto.h"

namespace mandate::apiserver {
namespace {

constexpr std::array<const char*, 4> kResources = {"roles", "clusterroles", "rolebindings",
                                                   "clusterrolebindings"};

GroupResource Rbac(const char* resource) { return {rbac::kRbacGroup, resource}; }

template <class Message>
auto ReadAll(const ObjectReader& objects, const char* resource) {
  std::vector<decltype(rbac::FromProto(Message()))> all;
  for (const auto& object : objects.List(Rbac(resource))) {
    // What is stored has been decoded as that kind before.
    all.push_back(rbac::FromProto(DecodeObject<Message>(object->json, Encoding::kJson).value()));
  }
  return all;
}

}  // namespace

std::shared_ptr<const rbac::Authorizer> PolicySource::Current() {
  std::array<int64_t, 4> now;
  for (size_t i = 0; i < now.size(); ++i) now[i] = objects_.LastChange(Rbac(kResources[i]));
  if (authorizer_ == nullptr || now != seen_) {
    seen_ = now;
    authorizer_ = std::make_shared<rbac::Authorizer>(
        rbac::Policy{.roles = ReadAll<rbac::v1::Role>(objects_, "roles"),
                     .cluster_roles = ReadAll<rbac::v1::ClusterRole>(objects_, "clusterroles"),
                     .role_bindings = ReadAll<rbac::v1::RoleBinding>(objects_, "rolebindings"),
                     .cluster_role_bindings =
                         ReadAll<rbac::v1::ClusterRoleBinding>(objects_, "clusterrolebindings")});
  }
  return authorizer_;
}

}  // namespace mandate::apiserver
