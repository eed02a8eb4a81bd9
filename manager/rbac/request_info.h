// The verb, resource and name of an HTTP request, as the API server's RequestInfoFactory and its
// authorization filter compute them (k8s.io/apiserver pkg/endpoints/request, release 1.36). They
// use only method and target, before routing, so the result exists also for unknown resources.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "manager/rbac/rule.h"

namespace mandate::rbac {

// `method` is the one of the request line, "GET"; `target` is path and query,
// "/api/v1/pods?watch=1".
//
// - /api/<version>/… and /apis/<group>/<version>/… with something after the version are resource
//   requests; every other request is for a path, and its verb is the method in lower case.
// - Requests for a Namespace have its name also as their namespace: /api/v1/namespaces/foo and its
//   status and finalize are in namespace foo, so a RoleBinding there can grant them.
// - A GET or HEAD without a name is a list, or a watch by its parameter. A field selector
//   metadata.name=x gives the request the name x, unless any list parameter is malformed. A DELETE
//   without a name is deletecollection, and a selector does not give it one.
// - The old prefixes /watch/ and /proxy/ after the version are verbs.
// - An unknown method has an empty verb on a resource.
//
// InvalidArgument for requests that the server rejects before authorization: a target that is not
// an absolute path or has an invalid escape (400), or a /watch or /proxy at its end (500).
absl::StatusOr<Attributes> AttributesOf(std::string_view method, std::string_view target);

}  // namespace mandate::rbac
