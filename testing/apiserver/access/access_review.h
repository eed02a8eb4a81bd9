// SelfSubjectAccessReview, SubjectAccessReview, LocalSubjectAccessReview and SelfSubjectRulesReview
// (k8s.io/kubernetes pkg/registry/authorization).
#pragma once

#include <jsoncpp/json/json.h>

#include "absl/status/statusor.h"
#include "manager/rbac/authorizer.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// Each returns the response to a POST of `object`, without apiVersion and kind, or the error.
absl::StatusOr<Json::Value> ReviewOwnAccess(const rbac::Authorizer& authorizer,
                                            const Request& request, Json::Value object);
absl::StatusOr<Json::Value> ReviewAccess(const rbac::Authorizer& authorizer, const Request& request,
                                         Json::Value object);
// Reviews access in the namespace of the request.
absl::StatusOr<Json::Value> ReviewLocalAccess(const rbac::Authorizer& authorizer,
                                              const Request& request, Json::Value object);
absl::StatusOr<Json::Value> ReviewOwnRules(const rbac::Authorizer& authorizer,
                                           const Request& request, const Json::Value& object);

}  // namespace mandate::apiserver
