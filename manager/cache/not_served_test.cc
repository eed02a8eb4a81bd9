#include "manager/cache/not_served.h"

#include <gtest/gtest.h>

#include "manager/object/api_error.h"

namespace mandate {
namespace {

constexpr KindInfo kWidget = {.group = "example.com",
                              .version = "v1",
                              .kind = "Widget",
                              .plural = "widgets",
                              .encoding = Encoding::kJson};
constexpr KindInfo kLease = {.group = "coordination.k8s.io",
                             .version = "v1",
                             .kind = "Lease",
                             .plural = "leases",
                             .encoding = Encoding::kProtobuf};

TEST(NotServedTest, NamesTheKindAndTheNextStep) {
  const absl::Status why = absl::NotFoundError("404 page not found");
  EXPECT_EQ(NotServed(kWidget, why),
            absl::NotFoundError("the API server does not serve widgets of example.com/v1; apply "
                                "its CustomResourceDefinition. The API server says: 404 page not "
                                "found"));
  EXPECT_EQ(NotServed(kLease, why),
            absl::NotFoundError("the API server does not serve leases of coordination.k8s.io/v1. "
                                "The API server says: 404 page not found"))
      << "a built-in kind has no CustomResourceDefinition";
}

TEST(NotServedTest, KeepsTheAnswerOfTheServer) {
  const absl::Status status = NotServed(kWidget, StatusFromResponse(404, "404 page not found"));
  EXPECT_TRUE(IsNotFound(status));
  EXPECT_EQ(HttpCode(status), 404);
}

}  // namespace
}  // namespace mandate
