// Waits for a state of one object, or of the objects of a namespace, by a watch.
#pragma once

#include <map>
#include <memory>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/protobuf/message.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"
#include "testing/environment/administrator.h"

namespace mandate {

using RawObjects = std::map<ObjectKey, std::shared_ptr<const RawObject>>;

// Whether this is the state to wait for. A single object that is absent: empty.
using ObjectsCheck = absl::FunctionRef<bool(const RawObjects& objects)>;

struct ObjectWait {
  const KindInfo& kind;
  // Of one object. Without a name: all objects of the namespace. Without both: all of the cluster.
  const ObjectKey& key;
  absl::Duration patience;
  std::string_view failure;  // "still exists", for the error
  // An empty message of the object's type, to print protobuf. Null: the object is JSON.
  const google::protobuf::Message* type = nullptr;
};

// Calls `check` on this thread with the objects as they are and then as they become, each state in
// order, until `check` returns true. kDeadlineExceeded: it did not in that time. The message prints
// at most 10 objects as they were last, without their managedFields, or why they cannot be read.
absl::Status AwaitObjects(Administrator& administrator, const ObjectWait& wait, ObjectsCheck check);

}  // namespace mandate
