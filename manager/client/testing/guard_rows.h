// Requests of one component, and the guard's decision on each. guard_test reads them, and
// guard_cluster_test compares them with a real API server.
#pragma once

#include <string_view>

#include "manager/rbac/mandate.h"

namespace mandate {

enum class GuardAnswer {
  kAllowed,
  kRejected,
  // Decisions of the server that depend on whether the object exists.
  kRejectedUnlikeServer,
  kAllowedUnlikeServer,
};

struct GuardRow {
  const char* method;
  const char* target;
  const char* content_type;  // "" if there is no body
  const char* body;
  GuardAnswer answer;
};

namespace guard_rows_internal {

inline constexpr std::string_view kRead[] = {"get", "list", "watch"};
inline constexpr std::string_view kPatch[] = {"patch"};
inline constexpr std::string_view kUpdate[] = {"update"};
inline constexpr std::string_view kCreate[] = {"create"};
inline constexpr std::string_view kApply[] = {"patch", "create"};
inline constexpr std::string_view kDeleteMany[] = {"deletecollection"};
inline constexpr std::string_view kDeleteOne[] = {"delete"};
inline constexpr std::string_view kCore[] = {""};
inline constexpr std::string_view kApps[] = {"apps"};
inline constexpr std::string_view kCoordination[] = {"coordination.k8s.io"};
inline constexpr std::string_view kConfigMaps[] = {"configmaps"};
inline constexpr std::string_view kSecrets[] = {"secrets"};
inline constexpr std::string_view kLeases[] = {"leases"};
inline constexpr std::string_view kTokens[] = {"serviceaccounts/token"};
inline constexpr std::string_view kStatus[] = {"deployments/status"};
inline constexpr std::string_view kServices[] = {"services"};
inline constexpr std::string_view kNamedA[] = {"a"};
inline constexpr std::string_view kMetrics[] = {"/metrics"};
inline constexpr std::string_view kGet[] = {"get"};

inline constexpr rbac::MandateRule kRules[] = {
    {{kRead, kCore, kSecrets, kNamedA}, "guarded"},
    {{kPatch, kCore, kConfigMaps}, "guarded"},
    {{kDeleteMany, kCore, kConfigMaps}, "guarded"},
    {{kUpdate, kCoordination, kLeases}, "guarded"},
    {{kApply, kCore, kServices, kNamedA}, "guarded"},
    {{kCreate, kCore, kTokens}, "guarded"},
    {{kPatch, kApps, kStatus}},
    {{kDeleteOne, kCore, kServices}},
    {{.verbs = kGet, .non_resource_urls = kMetrics}},
};

}  // namespace guard_rows_internal

// Namespace "guarded" has ConfigMap "there" and Lease "there".
inline constexpr rbac::Mandate kGuarded = {"guarded", guard_rows_internal::kRules};

inline constexpr char kJsonBody[] = "application/json";
inline constexpr char kMergeBody[] = "application/merge-patch+json";
inline constexpr char kApplyBody[] = "application/apply-patch+yaml";
inline constexpr char kMap[] =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}})";
inline constexpr char kMapThere[] =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"there"}})";
inline constexpr char kService[] =
    R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}})";
inline constexpr char kServiceB[] =
    R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"b"},"spec":{"ports":[{"port":80}]}})";
inline constexpr char kLease[] =
    R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"there"}})";
inline constexpr char kLeaseNew[] =
    R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"new"}})";
inline constexpr char kToken[] =
    R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}})";
inline constexpr char kReview[] =
    R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",)"
    R"("spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}})";

// Watches end by themselves. A target cannot contain {}.
inline constexpr GuardRow kGuardRows[] = {
    // Names, from the path, and from the field selector of lists, watches and deletions of
    // collections.
    {"GET", "/api/v1/namespaces/guarded/secrets/a", "", "", GuardAnswer::kAllowed},
    {"GET", "/api/v1/namespaces/guarded/secrets/b", "", "", GuardAnswer::kRejected},
    {"GET", "/api/v1/namespaces/default/secrets/a", "", "", GuardAnswer::kRejected},
    {"GET", "/api/v1/namespaces/guarded/secrets", "", "", GuardAnswer::kRejected},
    {"GET", "/api/v1/namespaces/guarded/secrets?fieldSelector=metadata.name%3Da", "", "",
     GuardAnswer::kAllowed},
    {"GET", "/api/v1/namespaces/guarded/secrets?fieldSelector=metadata.name%3Db", "", "",
     GuardAnswer::kRejected},
    {"GET", "/api/v1/namespaces/guarded/secrets?fieldSelector=metadata.name%21%3Da", "", "",
     GuardAnswer::kRejected},
    {"GET",
     "/api/v1/namespaces/guarded/"
     "secrets?fieldSelector=metadata.name%3Da&watch=true&timeoutSeconds=1",
     "", "", GuardAnswer::kAllowed},
    {"GET", "/api/v1/namespaces/guarded/secrets?watch=true&timeoutSeconds=1", "", "",
     GuardAnswer::kRejected},
    {"GET", "/api/v1/watch/namespaces/guarded/secrets/a?timeoutSeconds=1", "", "",
     GuardAnswer::kAllowed},
    {"GET", "/api/v1/secrets?fieldSelector=metadata.name%3Da", "", "", GuardAnswer::kRejected},
    // One object and many.
    {"DELETE", "/api/v1/namespaces/guarded/configmaps?labelSelector=none%3Dsuch", "", "",
     GuardAnswer::kAllowed},
    {"DELETE", "/api/v1/namespaces/guarded/configmaps/there", "", "", GuardAnswer::kRejected},
    {"DELETE", "/api/v1/namespaces/guarded/services?labelSelector=none%3Dsuch", "", "",
     GuardAnswer::kRejected},
    {"DELETE", "/api/v1/namespaces/guarded/services/none", "", "", GuardAnswer::kAllowed},
    {"DELETE", "/api/v1/namespaces/default/services/none", "", "", GuardAnswer::kAllowed},
    // Patches, and applies that create their object.
    {"PATCH", "/api/v1/namespaces/guarded/configmaps/there", kMergeBody, "{}",
     GuardAnswer::kAllowed},
    {"PATCH", "/api/v1/namespaces/guarded/configmaps/none", kMergeBody, "{}",
     GuardAnswer::kAllowed},
    {"PATCH", "/api/v1/namespaces/guarded/configmaps/new?fieldManager=g", kApplyBody, kMap,
     GuardAnswer::kRejected},
    {"PATCH", "/api/v1/namespaces/guarded/configmaps/there?fieldManager=g", kApplyBody, kMapThere,
     GuardAnswer::kRejectedUnlikeServer},
    {"PATCH", "/api/v1/namespaces/guarded/services/a?fieldManager=g&dryRun=All", kApplyBody,
     kService, GuardAnswer::kAllowed},
    {"PATCH", "/api/v1/namespaces/guarded/services/b?fieldManager=g&dryRun=All", kApplyBody,
     kServiceB, GuardAnswer::kRejected},
    {"PATCH", "/apis/apps/v1/namespaces/guarded/deployments/none/status?fieldManager=g", kApplyBody,
     R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"none"},"status":{}})",
     GuardAnswer::kAllowed},
    {"PATCH", "/apis/apps/v1/namespaces/guarded/deployments/none", kMergeBody, "{}",
     GuardAnswer::kRejected},
    // A POST has no name: a grant by name does not cover it.
    {"POST", "/api/v1/namespaces/guarded/services?dryRun=All", kJsonBody, kService,
     GuardAnswer::kRejected},
    {"POST", "/api/v1/namespaces/guarded/configmaps", kJsonBody, kMap, GuardAnswer::kRejected},
    // A PUT may create its object, if the kind allows it.
    {"PUT", "/apis/coordination.k8s.io/v1/namespaces/guarded/leases/there?dryRun=All", kJsonBody,
     kLease, GuardAnswer::kAllowed},
    {"PUT", "/apis/coordination.k8s.io/v1/namespaces/guarded/leases/new", kJsonBody, kLeaseNew,
     GuardAnswer::kAllowedUnlikeServer},
    {"PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/there", kJsonBody, kLease,
     GuardAnswer::kRejected},
    // Subresources.
    {"POST", "/api/v1/namespaces/guarded/serviceaccounts/default/token", kJsonBody, kToken,
     GuardAnswer::kAllowed},
    {"POST", "/api/v1/namespaces/default/serviceaccounts/default/token", kJsonBody, kToken,
     GuardAnswer::kRejected},
    {"POST", "/api/v1/namespaces/guarded/serviceaccounts", kJsonBody,
     R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"x"}})",
     GuardAnswer::kRejected},
    {"GET", "/api/v1/namespaces/guarded/pods/none/log", "", "", GuardAnswer::kRejected},
    // Requests that are not for resources, and rights of every user.
    {"GET", "/metrics", "", "", GuardAnswer::kAllowed},
    {"GET", "/debug/pprof/", "", "", GuardAnswer::kRejected},
    {"GET", "/version", "", "", GuardAnswer::kAllowed},
    {"GET", "/apis/apps/v1", "", "", GuardAnswer::kAllowed},
    {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", kJsonBody, kReview,
     GuardAnswer::kAllowed},
    {"GET", "/api/v1/namespaces/guarded", "", "", GuardAnswer::kRejected},
};

}  // namespace mandate
