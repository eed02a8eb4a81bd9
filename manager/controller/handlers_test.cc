#include "manager/controller/handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/controller/testing/objects.h"
#include "manager/object/kinds/coordination_v1.h"

namespace mandate {
namespace {

using coordinationv1::Lease;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr KindInfo kDeployment = {
    "apps", "v1", "Deployment", "deployments", Scope::kNamespaced, Encoding::kJson};
constexpr KindInfo kTemplate = {"operators.coreos.com", "v1alpha1",      "ScopeTemplate",
                                "scopetemplates",       Scope::kCluster, Encoding::kJson};
constexpr KindInfo kNode = {"", "v1", "Node", "nodes", Scope::kCluster, Encoding::kJson};

Request Req(const std::string& ns, const std::string& name) { return {{ns, name}}; }

std::vector<Request> Requests(const EventHandler& handler, const ObjectEvent& event) {
  std::vector<Request> requests;
  EXPECT_TRUE(handler(event, requests).ok());
  return requests;
}

std::string Owner(const std::string& api_version, const std::string& kind, const std::string& name,
                  bool controller) {
  return R"({"apiVersion":")" + api_version + R"(","kind":")" + kind + R"(","name":")" + name +
         R"(","uid":"u","controller":)" + (controller ? "true" : "false") + "}";
}

std::shared_ptr<const RawObject> Owned(const std::string& owners) {
  return RawWith(R"("namespace":"ns","name":"a","ownerReferences":[)" + owners + "]");
}

TEST(HandlersTest, TheObjectItself) {
  const auto object = RawWith(R"("namespace":"ns","name":"a")");
  for (const ObjectEvent& event : {Added(object), Updated(object, object), Deleted(object)}) {
    EXPECT_THAT(Requests(EnqueueObject(), event), ElementsAre(Req("ns", "a")));
  }
}

TEST(HandlersTest, Owners) {
  const struct {
    const char* what;
    std::string owners;
    std::vector<Request> controllers, owners_found;
    KindInfo owner = kDeployment;
  } rows[] = {
      {"none", "", {}, {}},
      {"controller", Owner("apps/v1", "Deployment", "d", true), {Req("ns", "d")}, {Req("ns", "d")}},
      {"not the controller", Owner("apps/v1", "Deployment", "d", false), {}, {Req("ns", "d")}},
      {"another version",
       Owner("apps/v1beta2", "Deployment", "d", true),
       {Req("ns", "d")},
       {Req("ns", "d")}},
      {"another group", Owner("extensions/v1", "Deployment", "d", true), {}, {}},
      {"no group", Owner("v1", "Deployment", "d", true), {}, {}},
      {"another kind", Owner("apps/v1", "ReplicaSet", "d", true), {}, {}},
      {"cluster scope",
       Owner("operators.coreos.com/v1", "ScopeTemplate", "t", true),
       {Req("", "t")},
       {Req("", "t")},
       kTemplate},
      {"core group", Owner("v1", "Node", "n", true), {Req("", "n")}, {Req("", "n")}, kNode},
      {"several",
       Owner("apps/v1", "Deployment", "d", false) + "," + Owner("apps/v1", "Deployment", "e", true),
       {Req("ns", "e")},
       {Req("ns", "d"), Req("ns", "e")}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const ObjectEvent event = Added(Owned(row.owners));
    EXPECT_EQ(Requests(EnqueueControllerOwner(row.owner), event), row.controllers);
    EXPECT_EQ(Requests(EnqueueOwners(row.owner), event), row.owners_found);
  }
}

TEST(HandlersTest, AnUpdateConcernsTheOldAndTheNewOwnerOnceEach) {
  const auto d = Owned(Owner("apps/v1", "Deployment", "d", true));
  const auto e = Owned(Owner("apps/v1", "Deployment", "e", true));
  const auto none = Owned("");
  const EventHandler handler = EnqueueControllerOwner(kDeployment);
  EXPECT_THAT(Requests(handler, Updated(d, e)), ElementsAre(Req("ns", "d"), Req("ns", "e")));
  EXPECT_THAT(Requests(handler, Updated(d, none)), ElementsAre(Req("ns", "d")));
  EXPECT_THAT(Requests(handler, Updated(none, e)), ElementsAre(Req("ns", "e")));
  EXPECT_THAT(Requests(handler, Updated(d, d)), ElementsAre(Req("ns", "d")));
}

TEST(HandlersTest, AnEventMapIsAskedOnce) {
  int asked = 0;
  const EventHandler handler = EnqueueMappedEvent([&](const ObjectEvent& event) {
    ++asked;
    const Request request = Req("", std::string(event.object->name()));
    return std::vector<Request>{request, Req("", "x"), request};
  });
  const auto object = RawWith(R"("name":"a")");
  EXPECT_THAT(Requests(handler, Updated(object, object)), ElementsAre(Req("", "a"), Req("", "x")));
  EXPECT_EQ(asked, 1);
}

std::shared_ptr<const RawObject> LeaseOf(const std::string& holder) {
  auto raw =
      ParseRawObject(R"({"metadata":{"name":"a"},"spec":{"holderIdentity":")" + holder + R"("}})",
                     Encoding::kJson);
  EXPECT_TRUE(raw.ok()) << raw.status();
  return *raw;
}

EventHandler ByHolder() {
  return EnqueueMapped<Lease>([](const Lease& lease) {
    return std::vector<Request>{Req("", lease.spec().holderidentity()), Req("", "always")};
  });
}

TEST(HandlersTest, AnObjectMapSeesTheOldAndTheNewObject) {
  EXPECT_THAT(Requests(ByHolder(), Added(LeaseOf("x"))),
              ElementsAre(Req("", "x"), Req("", "always")));
  EXPECT_THAT(Requests(ByHolder(), Deleted(LeaseOf("x"))),
              ElementsAre(Req("", "x"), Req("", "always")));
  EXPECT_THAT(Requests(ByHolder(), Updated(LeaseOf("x"), LeaseOf("y"))),
              ElementsAre(Req("", "x"), Req("", "always"), Req("", "y")));
}

TEST(HandlersTest, AnUndecodableObjectIsAnErrorThatHidesNothingElse) {
  auto bad =
      ParseRawObject(R"({"metadata":{"name":"a"},"spec":{"holderIdentity":7}})", Encoding::kJson);
  ASSERT_TRUE(bad.ok()) << bad.status();
  std::vector<Request> requests;
  EXPECT_FALSE(ByHolder()(Updated(*bad, LeaseOf("y")), requests).ok());
  EXPECT_THAT(requests, ElementsAre(Req("", "y"), Req("", "always")));
  requests.clear();
  EXPECT_FALSE(ByHolder()(Added(*bad), requests).ok());
  EXPECT_THAT(requests, IsEmpty());
}

}  // namespace
}  // namespace mandate
