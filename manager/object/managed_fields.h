// Removes metadata.managedFields from objects.
#pragma once

#include <memory>

#include "manager/object/raw_object.h"

namespace mandate {

// The object without metadata.managedFields, which may be half of its bytes; the same pointer if it
// has none. All else keeps its bytes, in both encodings. An object without them must not be given
// to Client::Ensure() as the observed one, which reads there who wrote a field.
std::shared_ptr<const RawObject> WithoutManagedFields(std::shared_ptr<const RawObject> object);

}  // namespace mandate
