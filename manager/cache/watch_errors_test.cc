#include "manager/cache/watch_errors.h"

#include <gtest/gtest.h>

#include "manager/cache/testing/watch_json.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

constexpr KindInfo kLease = {.group = "coordination.k8s.io",
                             .version = "v1",
                             .kind = "Lease",
                             .plural = "leases",
                             .encoding = Encoding::kProtobuf};

TEST(ExplainTest, AMissingKindIsNamedWithTheNextStep) {
  const absl::Status why = absl::NotFoundError("404 page not found");
  EXPECT_EQ(Explain(kWidget, why),
            absl::NotFoundError("the API server does not serve widgets of example.com/v1; apply "
                                "its CustomResourceDefinition. The API server says: 404 page not "
                                "found"));
  EXPECT_EQ(Explain(kLease, why),
            absl::NotFoundError("the API server does not serve leases of coordination.k8s.io/v1. "
                                "The API server says: 404 page not found"))
      << "a built-in kind has no CustomResourceDefinition";
}

TEST(ExplainTest, KeepsTheServersStatus) {
  const absl::Status status = Explain(kWidget, StatusFromResponse(404, "404 page not found"));
  EXPECT_TRUE(IsNotFound(status));
  EXPECT_EQ(HttpCode(status), 404);
}

// For some seconds after a CustomResourceDefinition was created.
TEST(ExplainTest, ANewKindIsNamed) {
  const absl::Status status =
      Explain(kWidget, StatusFromResponse(429, "storage is (re)initializing"));
  EXPECT_TRUE(IsTooManyRequests(status));
  EXPECT_EQ(
      std::string(status.message()),
      "the API server does not serve widgets of example.com/v1 yet: its CustomResourceDefinition "
      "was created just now; retrying soon. The API server says: the server responded with HTTP "
      "429: "
      "storage is (re)initializing");
}

TEST(ExplainTest, KeepsOtherErrors) {
  for (const int code : {403, 410, 429, 500}) {
    const absl::Status error = StatusFromResponse(code, "its own words");
    EXPECT_EQ(Explain(kWidget, error), error);
  }
}

TEST(AccessDeniedTest, NamesTheRequestTheReasonAndTheNextStep) {
  EXPECT_EQ(AccessDenied("memcached", "list", "widgets of example.com/v1", ""),
            absl::PermissionDeniedError("memcached may not list widgets of example.com/v1: grant "
                                        "it list and watch; a new grant is noticed without a "
                                        "restart"));
  EXPECT_EQ(AccessDenied("memcached", "list and watch", "widgets of example.com/v1", "no rule"),
            absl::PermissionDeniedError("memcached may not list and watch widgets of "
                                        "example.com/v1 (no rule): grant it list and watch; a new "
                                        "grant is noticed without a restart"));
}

}  // namespace
}  // namespace mandate
