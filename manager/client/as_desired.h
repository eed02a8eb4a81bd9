// Whether an object is already as its owner wants it, so that a write would change nothing.
#pragma once

#include <string_view>

#include "google/protobuf/message.h"
#include "manager/object/kind.h"

namespace mandate {

// Whether a server-side apply of `desired` by `manager` would change nothing: `manager` owns
// exactly the fields that `desired` has, by an earlier apply, and they have the same values, and
// items the same order. Fields of others and defaults of the server do not matter. Quantities are
// compared as numbers: 1000m is 1.
//
// `observed` is the object as it was read, of the same type as `desired`. False if it cannot be
// told: without managedFields, when `manager` has also written fields by create, update or patch,
// when the last apply was in another version of the API, and when `desired` has an empty object to
// which the server adds defaults: leave it out.
bool IsAsDesired(const KindInfo& kind, const google::protobuf::Message& observed,
                 const google::protobuf::Message& desired, std::string_view manager);

}  // namespace mandate
