#include "manager/client/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "manager/client/testing/guard_rows.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kVerbs[] = {"get", "list", "watch", "create", "patch"};
constexpr std::string_view kGroup[] = {"rbac.authorization.k8s.io"};
constexpr std::string_view kBindings[] = {"rolebindings"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kSecrets[] = {"secrets"};
constexpr std::string_view kNames[] = {"cert"};
constexpr std::string_view kGetUpdate[] = {"get", "update"};
constexpr std::string_view kMetrics[] = {"/metrics"};
constexpr std::string_view kGet[] = {"get"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kVerbs, .api_groups = kGroup, .resources = kBindings}},
    {.rule = {.verbs = kGetUpdate,
              .api_groups = kCore,
              .resources = kSecrets,
              .resource_names = kNames},
     .ns = "mandate"},
    {.rule = {.verbs = kGet, .non_resource_urls = kMetrics}},
};
constexpr rbac::Mandate kMandate = {.component = "scope-instance", .rules = kRules};

struct Case {
  const char* method;
  const char* target;
  // Null: allowed. Otherwise the refusal's words for the request, and the marker.
  const char* request = nullptr;
  const char* marker = nullptr;
};

const Case kCases[] = {
    {"GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/foo/rolebindings/bar"},
    {"GET", "/apis/rbac.authorization.k8s.io/v1/rolebindings?watch=1"},
    {"POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/foo/rolebindings"},
    {"PATCH", "/apis/rbac.authorization.k8s.io/v1/namespaces/foo/rolebindings/bar"},
    {"PUT", "/apis/rbac.authorization.k8s.io/v1/namespaces/foo/rolebindings/bar",
     "update rolebindings.rbac.authorization.k8s.io foo/bar;",
     "// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=update,"
     "namespace=foo,resourceNames=bar"},
    {"DELETE", "/apis/rbac.authorization.k8s.io/v1/namespaces/foo/rolebindings",
     "deletecollection rolebindings.rbac.authorization.k8s.io in namespace foo;",
     "resources=rolebindings,verbs=deletecollection,namespace=foo"},
    {"PATCH", "/apis/rbac.authorization.k8s.io/v1/namespaces/foo/rolebindings/bar/status",
     "patch rolebindings.rbac.authorization.k8s.io/status foo/bar;",
     "resources=rolebindings/status,verbs=patch,namespace=foo,resourceNames=bar"},
    {"GET", "/api/v1/namespaces/mandate/secrets/cert"},
    {"GET", "/api/v1/namespaces/mandate/secrets/other", "get secrets mandate/other;",
     "// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get,namespace=mandate,"
     "resourceNames=other"},
    {"GET", "/api/v1/namespaces/foo/secrets/cert", "get secrets foo/cert;",
     "verbs=get,namespace=foo,resourceNames=cert"},
    {"GET", "/api/v1/namespaces/mandate/secrets", "list secrets in namespace mandate;",
     "verbs=list,namespace=mandate"},
    {"GET", "/api/v1/namespaces/mandate/secrets?fieldSelector=metadata.name%3Dcert",
     "list secrets mandate/cert;", "verbs=list,namespace=mandate,resourceNames=cert"},
    {"GET", "/api/v1/namespaces/foo", "get namespaces foo;",
     "resources=namespaces,verbs=get,resourceNames=foo"},
    {"GET", "/metrics"},
    {"GET", "/debug/pprof", "get /debug/pprof;",
     "// +kubebuilder:rbac:urls=/debug/pprof,verbs=get"},
    // system:basic-user and system:discovery.
    {"POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"},
    {"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"},
    {"POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"},
    {"GET", "/version"},
    {"GET", "/apis/rbac.authorization.k8s.io/v1"},
    {"GET", "/openapi/v3"},
    {"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
     "create subjectaccessreviews.authorization.k8s.io;", "verbs=create"},
    {"GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
     "list selfsubjectaccessreviews.authorization.k8s.io;", "verbs=list"},
    {"GET", "/apisx", "get /apisx;", "urls=/apisx,verbs=get"},
    {"POST", "/version", "post /version;", "urls=/version,verbs=post"},
};

TEST(GuardTest, RejectsUndeclaredRequestsWithTheMarker) {
  const Guard guard(kMandate, GuardMode::kEnforce);
  for (const Case& c : kCases) {
    SCOPED_TRACE(std::string(c.method) + " " + c.target);
    const absl::Status status = guard.Check(c.method, c.target);
    if (c.request == nullptr) {
      EXPECT_TRUE(status.ok()) << status;
      continue;
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
    const std::string message(status.message());
    EXPECT_THAT(message, HasSubstr("component scope-instance does not declare that it may "));
    EXPECT_THAT(message, HasSubstr(std::string("may ") + c.request));
    EXPECT_THAT(message, testing::EndsWith(c.marker));
  }
}

TEST(GuardTest, ModesOffAndWarnSendEverything) {
  const Guard off(kMandate, GuardMode::kOff);
  std::vector<std::string> warnings;
  const Guard warn(kMandate, GuardMode::kWarn,
                   [&](const absl::Status& s) { warnings.emplace_back(s.message()); });
  size_t refused = 0;
  for (const Case& c : kCases) {
    EXPECT_TRUE(off.Check(c.method, c.target).ok());
    EXPECT_TRUE(warn.Check(c.method, c.target).ok());
    refused += c.request != nullptr;
  }
  EXPECT_EQ(warnings.size(), refused);
  EXPECT_GT(refused, 0u);
}

// guard_cluster_test sends the same rows to a real API server.
TEST(GuardTest, DecidesTheRows) {
  const Guard guard(kGuarded, GuardMode::kEnforce);
  for (const GuardRow& row : kGuardRows) {
    EXPECT_EQ(
        guard.Check(row.method, row.target, row.content_type).ok(),
        row.answer == GuardAnswer::kAllowed || row.answer == GuardAnswer::kAllowedUnlikeServer)
        << row.method << " " << row.target;
  }
}

TEST(GuardTest, AnApplyNeedsCreateToo) {
  const Guard guard(kGuarded, GuardMode::kEnforce);
  const absl::Status status =
      guard.Check("PATCH", "/api/v1/namespaces/guarded/configmaps/there", kApplyBody);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()), HasSubstr("may create configmaps guarded/there;"));
  EXPECT_THAT(
      std::string(status.message()),
      testing::EndsWith(
          "// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=create,namespace=guarded"));
}

TEST(GuardTest, Counts) {
  Metrics metrics;
  const auto count = [&](const char* outcome) {
    return metrics
        .Counter("mandate_guard_requests_total", "",
                 {{"identity", "scope-instance"}, {"outcome", outcome}})
        .Value();
  };
  for (const GuardMode mode : {GuardMode::kOff, GuardMode::kWarn, GuardMode::kEnforce}) {
    const Guard guard(kMandate, mode, {}, &metrics);
    (void)guard.Check("GET", "/metrics");
    (void)guard.Check("GET", "/debug");
    (void)guard.Check("GET", "debug");
  }
  EXPECT_EQ(count("allowed"), 2);
  EXPECT_EQ(count("undeclared"), 1) << "in mode warn";
  EXPECT_EQ(count("rejected"), 1);
  EXPECT_EQ(count("unreadable"), 2);
}

TEST(GuardTest, RejectsUnparsableRequests) {
  EXPECT_EQ(Guard(kMandate, GuardMode::kEnforce).Check("GET", "api/v1/pods").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Guard(kMandate, GuardMode::kEnforce).Check("GET", "/api/v1/pods/%zz").code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(GuardTest, ModesHaveNames) {
  EXPECT_EQ(*ParseGuardMode("enforce"), GuardMode::kEnforce);
  EXPECT_EQ(*ParseGuardMode("warn"), GuardMode::kWarn);
  EXPECT_EQ(*ParseGuardMode("off"), GuardMode::kOff);
  EXPECT_EQ(ParseGuardMode("on").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace mandate
