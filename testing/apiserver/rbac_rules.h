// What makes a role or a binding valid (k8s.io/kubernetes pkg/apis/rbac/validation).
#ifndef TESTING_APISERVER_RBAC_RULES_H_
#define TESTING_APISERVER_RBAC_RULES_H_

#include <jsoncpp/json/json.h>

#include <vector>

#include "testing/apiserver/errors.h"
#include "testing/apiserver/kinds.h"

namespace mandate::apiserver {

// The API groups of a binding's role and subjects, where they are left out.
void DefaultBinding(Json::Value& object);

// `old` is null of a creation.
std::vector<Cause> CheckRbac(const ResourceType& type, const Json::Value& object,
                             const Json::Value& old);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_RBAC_RULES_H_
