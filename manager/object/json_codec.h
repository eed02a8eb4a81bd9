// Protobuf messages as the JSON of the Kubernetes API.
//
// Kubernetes' JSON is not protobuf's own JSON mapping: times are RFC 3339, int64 are numbers, some
// messages are flattened into their parent, RawExtension is the embedded value, and so on
// (json_hooks.h, json_names.h). One walker over protobuf reflection serves built-in kinds and the
// project's CRDs alike; messages must be of the generated pool.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "manager/object/json_cursor.h"
#include "manager/object/kind.h"

namespace mandate {

struct FromJsonOptions {
  // Members that the message does not know are errors that name the path, except the apiVersion and
  // kind of the whole and of what has metadata. Otherwise they are ignored: a newer server may send
  // them.
  bool strict = false;
  // When set, a text with another apiVersion or kind is an error; a text with neither is not.
  const KindInfo* kind = nullptr;
  JsonLimits limits = {};
};

// Writes the fields that are present, in the order of the message's fields, with maps sorted by
// key. A time that is present but empty is the zero time and is omitted. `kind` adds apiVersion and
// kind. kInvalidArgument names the field whose bytes cannot be JSON (a RawExtension that holds
// none).
absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message,
                                   const KindInfo* kind = nullptr);

// Replaces the content of `out`; null is absence. Errors are kInvalidArgument and name the field's
// path, "rules[0].verbs: expected an array, got a string"; then `out` is unspecified.
absl::Status FromJson(std::string_view json, google::protobuf::Message& out,
                      const FromJsonOptions& options = {});

}  // namespace mandate
