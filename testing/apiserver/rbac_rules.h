// Validates roles and bindings (k8s.io/kubernetes pkg/apis/rbac/validation).
#pragma once

#include <jsoncpp/json/json.h>

#include <vector>

#include "testing/apiserver/errors.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// Sets the default API groups of a binding's role and subjects.
void DefaultBinding(Json::Value& object);

// `old` is null for a creation.
std::vector<Cause> CheckRbac(const ResourceType& type, const Json::Value& object,
                             const Json::Value& old);

}  // namespace mandate::apiserver
