#include "rbacgen/world/resource_names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rbacgen/world/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// group|resource
std::string Find(std::string_view type, const World& world) {
  const ResourceId id = FindResource(type, world.custom, world.policy);
  return id.group + "|" + id.resource;
}

TEST(FindResource, AcceptsTheNamesOfKubectl) {
  World world = TreeOf(
      "// +kubebuilder:rbac:groups=g.io,resources=things/status;policies;users,verbs=get\n"
      "// +kubebuilder:rbac:groups=a.io;b.io,resources=twice,verbs=get\n");
  world.custom = {{"c.io", "certificates", "certificate", {"cert", "certs"}},
                  {"c.io", "mice", "mouse", {}},
                  {"v1.c.io", "boxes", "box", {"po"}}};
  const struct {
    const char* type;
    const char* want;
  } kCases[] = {
      {"pods", "|pods"},
      {"pod", "|pods"},
      {"Pod", "|pods"},
      {"po", "|pods"},
      {"PODS", "|pods"},
      {"pods.", "|pods"},
      {"po.v1.", "|pods"},
      {"endpoints", "|endpoints"},
      {"ep", "|endpoints"},
      {"ev", "|events"},
      {"event.events.k8s.io", "events.k8s.io|events"},
      {"deploy", "apps|deployments"},
      {"Deployment", "apps|deployments"},
      {"deployment.apps", "apps|deployments"},
      {"deployment.v1.apps", "apps|deployments"},
      {"deployments.extensions", "extensions|deployments"},
      {"ingress", "networking.k8s.io|ingresses"},
      {"networkpolicy", "networking.k8s.io|networkpolicies"},
      {"lease", "coordination.k8s.io|leases"},
      {"storageclass", "storage.k8s.io|storageclasses"},
      {"CustomResourceDefinition", "apiextensions.k8s.io|customresourcedefinitions"},
      {"crd", "apiextensions.k8s.io|customresourcedefinitions"},
      {"signer", "certificates.k8s.io|signers"},
      {"users", "g.io|users"},
      {"thing", "g.io|things"},
      {"Policy", "g.io|policies"},
      {"thing.g.io", "g.io|things"},
      {"thing.v2.g.io", "g.io|things"},
      {"thing.h.io", "h.io|thing"},
      {"thing.v1.h.io", "h.io|thing"},
      {"twice", "|twice"},
      {"twice.b.io", "b.io|twice"},
      {"cert", "c.io|certificates"},
      {"certs.v1.c.io", "c.io|certificates"},
      {"mouse", "c.io|mice"},
      {"mouses", "|mouses"},
      {"box.v1.c.io", "v1.c.io|boxes"},
      {"boxes.v1.c.io", "v1.c.io|boxes"},
      {"po.v1.c.io", "v1.c.io|boxes"},
      {"other.v1.c.io", "v1.c.io|other"},
      {"unknown", "|unknown"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Find(c.type, world), c.want) << c.type;
}

TEST(ParseApiResources, ReadsItsColumns) {
  EXPECT_THAT(
      ParseApiResources("bindings                            v1                true    Binding\n"
                        "certificates   cert,certs   cert-manager.io/v1   true   Certificate\n"
                        "error: something else\n"
                        "\n"
                        "nodes          no     v1    false   Node"),
      ElementsAre(
          ResourceNames{"", "bindings", "binding", {}},
          ResourceNames{"cert-manager.io", "certificates", "certificate", {"cert", "certs"}},
          ResourceNames{"", "nodes", "node", {"no"}}));
  EXPECT_THAT(ParseApiResources(""), IsEmpty());
}

}  // namespace
}  // namespace mandate::rbacgen
