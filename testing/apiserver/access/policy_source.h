// The roles and bindings that are stored, as an authorizer.
#ifndef TESTING_APISERVER_ACCESS_POLICY_SOURCE_H_
#define TESTING_APISERVER_ACCESS_POLICY_SOURCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "manager/rbac/authorizer.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// Loop thread only.
class PolicySource {
 public:
  // Borrows the objects.
  explicit PolicySource(const ObjectReader& objects) : objects_(objects) {}

  // Made anew once any of them has changed, so that grants count from the next request on.
  std::shared_ptr<const rbac::Authorizer> Current();

 private:
  // The objects of one kind, and what each says: it is decoded once, not for each new authorizer.
  template <class Value>
  struct Kind {
    int64_t last_change = -1;
    std::vector<std::shared_ptr<const StoredObject>> objects;
    std::vector<Value> values;  // as many, in the same order
  };
  // Whether anything has changed since the last call.
  template <class Message, class Value>
  bool Update(const char* resource, Kind<Value>& kind) const;

  const ObjectReader& objects_;
  Kind<rbac::Role> roles_;
  Kind<rbac::ClusterRole> cluster_roles_;
  Kind<rbac::RoleBinding> role_bindings_;
  Kind<rbac::ClusterRoleBinding> cluster_role_bindings_;
  std::shared_ptr<const rbac::Authorizer> authorizer_;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_POLICY_SOURCE_H_
