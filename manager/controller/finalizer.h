// Finalizers: the deletion of an object waits until each of them is removed.
//
//   if (object.metadata().has_deletiontimestamp()) {
//     …  // clean up
//     RETURN_IF_ERROR(RemoveFinalizer(context, client, object, kFinalizer));
//     return Result{};
//   }
//   RETURN_IF_ERROR(AddFinalizer(context, client, object, kFinalizer));
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "manager/client/object_patch.h"
#include "manager/core/call_context.h"
#include "manager/core/status_macros.h"
#include "manager/object/api_error.h"
#include "manager/object/kind.h"

namespace mandate {

// `finalizer` is a qualified name: "example.com/cleanup".
template <Object T>
bool HasFinalizer(const T& object, std::string_view finalizer) {
  return std::ranges::count(object.metadata().finalizers(), finalizer) > 0;
}

// A patch that makes this the list of `read`, an object that came from the server, if the object
// has not changed since.
absl::StatusOr<MergePatch> FinalizersPatch(const google::protobuf::Message& read,
                                           const std::vector<std::string>& finalizers);

// Adds the finalizer to `object`, which is as it was read, and stores the server's answer in it.
// Sends nothing if the object has the finalizer. `client` needs patch on T. A Conflict (kAborted)
// when the object was changed meanwhile. The server rejects a new finalizer of an object that is
// being deleted.
template <Object T, class Client>
absl::Status AddFinalizer(const CallContext& context, Client& client, T& object,
                          std::string_view finalizer) {
  if (HasFinalizer(object, finalizer)) return absl::OkStatus();
  std::vector<std::string> finalizers(object.metadata().finalizers().begin(),
                                      object.metadata().finalizers().end());
  finalizers.emplace_back(finalizer);
  ASSIGN_OR_RETURN(const MergePatch patch, FinalizersPatch(object, finalizers));
  ASSIGN_OR_RETURN(object, client.template Patch<T>(context, KeyOf(object), patch));
  return absl::OkStatus();
}

// The opposite of AddFinalizer, with its errors; the finalizers of others stay. When the last one
// of a deleted object is removed, the object goes. OK, too, if it is gone already: a reconcile may
// follow before the cache knows.
template <Object T, class Client>
absl::Status RemoveFinalizer(const CallContext& context, Client& client, T& object,
                             std::string_view finalizer) {
  if (!HasFinalizer(object, finalizer)) return absl::OkStatus();
  std::vector<std::string> finalizers(object.metadata().finalizers().begin(),
                                      object.metadata().finalizers().end());
  std::erase(finalizers, finalizer);
  ASSIGN_OR_RETURN(const MergePatch patch, FinalizersPatch(object, finalizers));
  absl::StatusOr<T> patched = client.template Patch<T>(context, KeyOf(object), patch);
  if (IsNotFound(patched.status()) &&
      IsServerErrorAbout(patched.status(), object.metadata().name())) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(object, std::move(patched));
  return absl::OkStatus();
}

}  // namespace mandate
