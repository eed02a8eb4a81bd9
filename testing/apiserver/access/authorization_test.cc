#include "testing/apiserver/access/authorization.h"

#include "gtest/gtest.h"
#include "manager/object/api_error.h"
#include "manager/object/json_codec.h"

namespace mandate::apiserver {
namespace {

std::string Refusal(const rbac::Attributes& request, std::string_view reason) {
  const absl::Status status = NotAuthorized({.name = "jane", .groups = {}}, request, reason);
  EXPECT_TRUE(IsForbidden(status));
  return ToJson(*ApiStatus(status)).value();
}

TEST(NotAuthorizedTest, NamesWhatWasRefused) {
  rbac::Attributes request;
  request.verb = "create";
  request.api_group = "apps";
  request.resource = "deployments";
  request.subresource = "scale";
  request.ns = "shop";
  request.name = "web";
  EXPECT_EQ(
      Refusal(request, "because"),
      R"({"metadata":{},"status":"Failure","message":"deployments.apps \"web\" is forbidden: )"
      R"(User \"jane\" cannot create resource \"deployments/scale\" in API group \"apps\" in )"
      R"(the namespace \"shop\": because","reason":"Forbidden","details":{"name":"web",)"
      R"("group":"apps","kind":"deployments"},"code":403})");
}

TEST(NotAuthorizedTest, APathHasEmptyDetails) {
  rbac::Attributes request;
  request.verb = "get";
  request.is_resource_request = false;
  request.path = "/metrics";
  EXPECT_EQ(Refusal(request, ""),
            R"({"metadata":{},"status":"Failure","message":"forbidden: User \"jane\" cannot get )"
            R"(path \"/metrics\"","reason":"Forbidden","details":{},"code":403})");
}

}  // namespace
}  // namespace mandate::apiserver
