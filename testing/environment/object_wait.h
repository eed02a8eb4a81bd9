// Waits for a state of one object, by a watch.
#pragma once

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"
#include "testing/environment/administrator.h"

namespace mandate {

// Whether this is the state to wait for. Null: the object is absent.
using ObjectCheck = absl::FunctionRef<bool(const RawObject* object)>;

struct ObjectWait {
  const KindInfo& kind;
  const ObjectKey& key;
  absl::Duration patience;
  std::string_view failure;  // "still exists", for the error
  // An empty message of the object's type, to print protobuf. Null: the object is JSON.
  const google::protobuf::Message* type = nullptr;
};

// Calls `check` on this thread with the object as it is and then as it becomes, each state in
// order, until `check` returns true. kDeadlineExceeded: it did not in that time. The message
// prints the object as it was last, without its managedFields, or why it cannot be read.
absl::Status AwaitObject(Administrator& administrator, const ObjectWait& wait, ObjectCheck check);

}  // namespace mandate
