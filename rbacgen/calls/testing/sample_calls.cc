// A program with typed calls, for the tests of their notes. It is never run.
#include <memory>

#include "manager/client/client.h"
#include "manager/object/kinds/coordination_v1.h"
#include "manager/object/kinds/rbac_v1.h"
#include "rbacgen/calls/testing/sample_mandates.h"

namespace mandate {

absl::Status GetAgain(RestClient& rest);

// Not instantiated, so it leaves no note.
template <class T>
absl::Status List(Client<kFirst>& client) {
  return client.List<T>({}).status();
}

absl::Status Run(RestClient& rest) {
  auto first = Client<kFirst>::Create(rest);
  auto second = Client<kSecond>::Create(rest);
  if (!first.ok() || !second.ok()) return first.status();
  auto lease = first->Get<coordinationv1::Lease>({}, {"a", "b"});
  if (!lease.ok()) return lease.status();
  absl::Status status = first->Update({}, *lease).status();
  status.Update(first->UpdateStatus({}, rbacv1::ClusterRole()).status());
  status.Update(second->Apply({}, rbacv1::RoleBinding()).status());
  status.Update(second->Get<coordinationv1::Lease>({}, {"a", "b"}).status());
  status.Update(second->DeleteAllOf<rbacv1::RoleBinding>({}, {.ns = "a"}).status());
  status.Update(second->GetScale<coordinationv1::Lease>({}, {"a", "b"}).status());
  status.Update(GetAgain(rest));
  return status;
}

}  // namespace mandate

int main() {
  std::unique_ptr<mandate::RestClient> none;
  return none == nullptr || mandate::Run(*none).ok() ? 0 : 1;
}
