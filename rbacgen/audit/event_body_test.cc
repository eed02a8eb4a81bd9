#include "rbacgen/audit/event_body.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

EventBody Read(std::string_view resource, std::string_view text, bool is_request = true) {
  JsonCursor json(text);
  EventBody facts;
  ReadBody(json, resource, is_request, &facts);
  EXPECT_TRUE(json.Finish().ok()) << text;
  return facts;
}

TEST(ReadBody, ReadsATokenRequest) {
  const EventBody body = Read("serviceaccounts", R"({"kind":"TokenRequest",
      "apiVersion":"authentication.k8s.io/v1","metadata":{"creationTimestamp":null},
      "spec":{"audiences":["a","b"],"expirationSeconds":3600,
      "boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"mandate-manager-a"}},
      "status":{"token":"","expirationTimestamp":null}})");
  ASSERT_TRUE(body.token_request);
  EXPECT_THAT(body.token_request->audiences, ElementsAre("a", "b"));
  EXPECT_EQ(body.token_request->expiration_seconds, 3600);
  EXPECT_EQ(body.token_request->bound_kind + "/" + body.token_request->bound_name,
            "Secret/mandate-manager-a");
  const EventBody empty =
      Read("serviceaccounts", R"({"spec":{"audiences":null,"boundObjectRef":null}})");
  EXPECT_THAT(empty.token_request->audiences, IsEmpty());
  EXPECT_EQ(empty.token_request->bound_kind, "");
}

TEST(ReadBody, ReadsTheScopeInstanceOfABinding) {
  EXPECT_EQ(Read("rolebindings", R"({"metadata":{"labels":{"a":"b",
      "operators.coreos.io/scopeInstanceUID":"u-1"},"ownerReferences":[{"kind":"ScopeInstance",
      "apiVersion":"operators.coreos.com/v1","name":"i","uid":"u-2","controller":true}]}})")
                .instance_uid,
            "u-2");
  EXPECT_EQ(Read("clusterrolebindings",
                 R"({"metadata":{"ownerReferences":[{"kind":"ConfigMap","uid":"c"}],)"
                 R"("labels":{"operators.coreos.io/scopeInstanceUID":"u-1"}}})")
                .instance_uid,
            "u-1");
}

TEST(ReadBody, ReadsTheUidsOfScopeInstances) {
  const char* one = R"({"metadata":{"uid":"u-1"},"spec":{}})";
  EXPECT_THAT(Read("scopeinstances", one, false).uids, ElementsAre("u-1"));
  EXPECT_THAT(Read("scopeinstances", one, true).uids, IsEmpty()) << "a client may claim any";
  const EventBody list = Read("scopeinstances", R"({"metadata":{"resourceVersion":"7"},"items":[
          {"metadata":{"uid":"u-1"}},{"metadata":{"uid":"u-2"}}]})",
                              false);
  EXPECT_THAT(list.uids, ElementsAre("u-1", "u-2"));
  EXPECT_TRUE(list.is_list);
  EXPECT_FALSE(
      Read("scopeinstances", R"({"metadata":{"continue":"x"},"items":[]})", false).is_list);
  EXPECT_FALSE(
      Read("scopeinstances", R"({"items":[],"metadata":{"continue":"x"}})", false).is_list);
}

// A client can send any body.
TEST(ReadBody, IgnoresABodyOfAnotherShape) {
  for (const char* resource : {"serviceaccounts", "rolebindings", "scopeinstances"}) {
    for (const char* text :
         {"null", "[]", "7", R"("x")", "{}", R"({"spec":7,"metadata":[1]})",
          R"([{"op":"add","path":"/metadata/labels/a","value":"b"}])",
          R"({"spec":{"audiences":7,"expirationSeconds":"x","boundObjectRef":[]},)"
          R"("metadata":{"labels":[],"ownerReferences":{},"uid":{}},"items":{}})"}) {
      for (const bool is_request : {true, false}) Read(resource, text, is_request);
    }
  }
}

TEST(HasFacts, OnlyForObjectsThatTheTraceNeeds) {
  EXPECT_TRUE(HasFacts("", "serviceaccounts", "token"));
  EXPECT_TRUE(HasFacts("rbac.authorization.k8s.io", "rolebindings", ""));
  EXPECT_TRUE(HasFacts("operators.coreos.com", "scopeinstances", ""));
  EXPECT_FALSE(HasFacts("", "serviceaccounts", ""));
  EXPECT_FALSE(HasFacts("", "secrets", ""));
  EXPECT_FALSE(HasFacts("g", "rolebindings", ""));
}

}  // namespace
}  // namespace mandate::rbacgen
