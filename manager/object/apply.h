// The body of a server-side apply: exactly the fields that we want to own.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "manager/object/kind.h"

namespace mandate {

// The part of an object that one apply owns; each has its own URL.
enum class ApplyPart {
  kMain,    // everything but status
  kStatus,  // status alone, with the names that identify the object
};

// Build the object from nothing: what is present in it will be owned by the field manager, and what
// was present in the last apply and is absent now will be removed.
//
// kInvalidArgument for an object that was read from the server, whose every field is present: it
// has managedFields, generation, creationTimestamp or another field that the server alone writes.
// uid and resourceVersion are preconditions. kInvalidArgument without metadata.name, too.
absl::StatusOr<std::string> ApplyBody(const google::protobuf::Message& object, const KindInfo& kind,
                                      ApplyPart part = ApplyPart::kMain);

template <Object T>
absl::StatusOr<std::string> ApplyBody(const T& object, ApplyPart part = ApplyPart::kMain) {
  return ApplyBody(object, KindOf<T>::value, part);
}

}  // namespace mandate
