// SelfSubjectReview and TokenReview (k8s.io/kubernetes pkg/registry/authentication).
#pragma once

#include <jsoncpp/json/json.h>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "testing/apiserver/access/authenticator.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// username, uid, groups and extra, without empty members.
Json::Value UserJson(const User& user);

// Both return the response to a POST, without apiVersion and kind.
Json::Value ReviewOwnIdentity(const Request& request, absl::Time now);
absl::StatusOr<Json::Value> ReviewToken(const Authenticator& authenticator, Json::Value object);

}  // namespace mandate::apiserver
