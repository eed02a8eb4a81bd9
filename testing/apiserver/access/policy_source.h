// The roles and bindings that are stored, as an authorizer.
#ifndef TESTING_APISERVER_ACCESS_POLICY_SOURCE_H_
#define TESTING_APISERVER_ACCESS_POLICY_SOURCE_H_

#include <array>
#include <cstdint>
#include <memory>

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
  const ObjectReader& objects_;
  std::array<int64_t, 4> seen_ = {-1, -1, -1, -1};
  std::shared_ptr<const rbac::Authorizer> authorizer_;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_POLICY_SOURCE_H_
