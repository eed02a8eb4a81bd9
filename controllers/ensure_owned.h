// Makes an object that another one owns as it should be: read, check of the owner, write.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/component.h"
#include "manager/core/strings.h"
#include "manager/object/kind.h"
#include "manager/object/owner.h"

namespace mandate {

enum class OperationResult { kUnchanged, kCreated, kUpdated };

// Makes `owner` the controller of `desired`, which is built from nothing, and calls Client::Ensure
// with the object that the component's cache has. Sends nothing if that is as desired. Returns the
// object as the server has it, and sets `operation`, for an event. Errors: those of the cache's
// Get() and of Ensure(); kAlreadyExists when an object of this name has another controller or
// none: it is not changed.
template <class Client, Object Owner, Object T>
absl::StatusOr<T> EnsureOwned(const CallContext& context, const Component& component,
                              Client& client, const Owner& owner, T desired,
                              OperationResult* operation = nullptr) {
  SetControllerReference(owner, &desired);
  const absl::StatusOr<T> observed = component.cache().Get<T>(context, KeyOf(desired));
  if (absl::IsNotFound(observed.status())) {
    auto created = client.Ensure(context, std::move(desired), nullptr);
    if (created.ok() && operation != nullptr) *operation = OperationResult::kCreated;
    return created;
  }
  if (!observed.ok()) return observed.status();
  if (!IsControlledBy(observed->metadata(), owner.metadata().uid())) {
    return absl::AlreadyExistsError(StrCat(KindOf<T>::value.kind, " ", KeyOf(desired).ToString(),
                                           " exists, and its controller is not the ",
                                           KindOf<Owner>::value.kind, " ", owner.metadata().name(),
                                           ": choose another name, or delete it"));
  }
  auto ensured = client.Ensure(context, std::move(desired), &*observed);
  if (ensured.ok() && operation != nullptr) {
    const bool same =
        ensured->metadata().resourceversion() == observed->metadata().resourceversion();
    *operation = same ? OperationResult::kUnchanged : OperationResult::kUpdated;
  }
  return ensured;
}

}  // namespace mandate
