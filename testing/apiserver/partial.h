// What the server makes of objects for a client that asks for their metadata only.
#pragma once

#include <memory>

#include "testing/apiserver/kinds.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// The type of PartialObjectMetadata.
const ResourceType& PartialType();

std::shared_ptr<const StoredObject> PartialOf(const StoredObject& object);

}  // namespace mandate::apiserver
