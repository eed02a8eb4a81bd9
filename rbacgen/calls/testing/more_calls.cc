// In an object file of its own: a call that sample_calls.cc has too, and a function without
// callers.
#include "manager/client/client.h"
#include "manager/object/kinds/coordination_v1.h"
#include "manager/object/kinds/rbac_v1.h"
#include "rbacgen/calls/testing/sample_mandates.h"

namespace mandate {

absl::Status GetAgain(RestClient& rest) {
  auto client = Client<kFirst>::Create(rest);
  if (!client.ok()) return client.status();
  return client->Get<coordinationv1::Lease>({}, {"a", "b"}).status();
}

// The linker drops its code with --gc-sections.
absl::Status NobodyCalls(Client<kFirst>& client) {
  return client.Delete<rbacv1::Role>({}, {"a", "b"}).status();
}

}  // namespace mandate
