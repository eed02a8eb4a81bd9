// What can still be told of an object that cannot be read.
#ifndef MANAGER_OBJECT_UNREADABLE_H_
#define MANAGER_OBJECT_UNREADABLE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "manager/object/kind.h"

namespace mandate {

// A value.
struct UnreadableObject {
  absl::Status why;
  ObjectKey key;                 // no name: nobody can tell which object it is
  std::string resource_version;  // empty: not known

  bool identified() const { return !key.name.empty(); }
  // "foo/bar"; for messages.
  std::string Name() const { return identified() ? key.ToString() : "an object without a name"; }
};

// Which object this is, though it cannot be read because of `why`. Of the metadata only what
// identifies it is looked at, past anything else that is wrong or nests too deep; what is there
// twice, or is of another type, identifies nothing. Protobuf may come with its envelope.
UnreadableObject Identify(absl::Status why, std::string_view object, Encoding encoding);

}  // namespace mandate

#endif  // MANAGER_OBJECT_UNREADABLE_H_
