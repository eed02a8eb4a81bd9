#include "testing/apiserver/access/forbidden.h"

#include <string>

#include "gtest/gtest.h"

namespace mandate::rbac {
namespace {

Attributes Resource(std::string group, std::string resource, std::string ns, std::string name,
                    std::string subresource = "") {
  Attributes request;
  request.verb = "get";
  request.api_group = std::move(group);
  request.resource = std::move(resource);
  request.ns = std::move(ns);
  request.name = std::move(name);
  request.subresource = std::move(subresource);
  return request;
}

TEST(ForbiddenTest, ResourceRequests) {
  EXPECT_EQ(ForbiddenMessage("jane", Resource("", "pods", "shop", "web")),
            R"(pods "web" is forbidden: User "jane" cannot get resource "pods" in API group "" )"
            R"(in the namespace "shop")");
  EXPECT_EQ(ForbiddenMessage("jane", Resource("apps", "deployments", "", "", "scale")),
            R"(deployments.apps is forbidden: User "jane" cannot get resource )"
            R"("deployments/scale" in API group "apps" at the cluster scope)");
  EXPECT_EQ(ForbiddenMessage("jane", Resource("", "", "", "pods"), "RBAC: none"),
            R"(forbidden: User "jane" cannot get resource "" in API group "" at the cluster )"
            R"(scope: RBAC: none)");
}

TEST(ForbiddenTest, Paths) {
  Attributes request;
  request.verb = "post";
  request.is_resource_request = false;
  request.path = "/metrics";
  EXPECT_EQ(ForbiddenMessage("system:anonymous", request),
            R"(forbidden: User "system:anonymous" cannot post path "/metrics")");
}

TEST(ForbiddenTest, EscapesWhatLooksLikeHtmlBeforeTheReason) {
  Attributes request;
  request.verb = "get";
  request.is_resource_request = false;
  request.path = "/<b>&";
  EXPECT_EQ(ForbiddenMessage("x", request, "a<b"),
            R"(forbidden: User "x" cannot get path "/&lt;b&gt;&amp;": a<b)");
}

}  // namespace
}  // namespace mandate::rbac
