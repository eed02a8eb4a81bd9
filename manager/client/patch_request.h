// The request of a patch, without its target.
#pragma once

#include <variant>

#include "manager/client/object_patch.h"
#include "manager/client/rest_client.h"

namespace mandate {

inline RestRequest PatchRequest(const Patch& patch) {
  const bool merge = std::holds_alternative<MergePatch>(patch);
  RestRequest request;
  request.method = "PATCH";
  request.body = merge ? std::get<MergePatch>(patch).json() : std::get<JsonPatch>(patch).json();
  request.content_type = merge ? "application/merge-patch+json" : "application/json-patch+json";
  return request;
}

}  // namespace mandate
