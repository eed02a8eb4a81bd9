// Deletes the objects of a collection: DELETE without a name, the verb deletecollection.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "manager/client/delete_options.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/object/kind.h"

namespace mandate {

// Deletes the selected objects, in requests of at most 500 objects each. Returns the number of
// objects that the API server has deleted or, if they have finalizers or a grace period, marked as
// deleted. Objects that are created after the first request stay, unless the deletion takes so
// long that the API server forgets which objects there were (after five minutes or more).
//
// An error can come after some objects were deleted; the same call deletes the others.
// kInvalidArgument without the namespace that the kind needs. Blocks the calling thread: not on the
// loop. Thread-safe.
absl::StatusOr<size_t> DeleteCollection(const CallContext& context, RestClient& rest,
                                        const KindInfo& kind, const DeleteAllOfOptions& options);

}  // namespace mandate
