// Creates or changes an object so that the one on the server has exactly the fields that we want to
// own.
#pragma once

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "manager/client/object_client.h"
#include "manager/core/call_context.h"
#include "manager/object/kind.h"

namespace mandate {

// Client::Ensure for any type (client.h has the contract). `object` is the desired object, built
// from nothing, and becomes the server's answer. `observed` is the object as last read, of the same
// type, or null if the object was absent. Blocks the calling thread.
absl::Status EnsureObject(ObjectClient& client, const CallContext& context, const KindInfo& kind,
                          const google::protobuf::Message* observed,
                          google::protobuf::Message& object);

}  // namespace mandate
