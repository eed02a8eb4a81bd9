// Creates, reads and updates one Lease, and explains missing permissions.
#pragma once

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/object/kinds/coordination_v1.h"

namespace mandate {

// Loop thread only.
class LeaseClient {
 public:
  using Done = absl::AnyInvocable<void(absl::StatusOr<coordinationv1::Lease>) &&>;

  // `client` outlives this and its requests.
  LeaseClient(RestClient& client, ObjectKey key);

  // `done` runs on the loop, even after this object is destroyed. Errors are the client's. A
  // missing permission is reported with the rule that grants it.
  void Get(const CallContext& context, Done done);
  // Creates the Lease without a holder if it does not exist, and returns what is there. It uses
  // server-side apply, because a Role can name the object of an apply, but not of a POST.
  void Create(const CallContext& context, Done done);
  // The resourceVersion of `lease` is the precondition. Returns what the server stored.
  void Update(const CallContext& context, const coordinationv1::Lease& lease, Done done);

  const ObjectKey& key() const { return key_; }

 private:
  void Fail(absl::Status status, Done done);
  void Send(const CallContext& context, RestRequest request, Done done);

  RestClient& client_;
  const ObjectKey key_;
};

}  // namespace mandate
