#include "controllers/memcached/deployment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "controllers/memcached/testing_objects.h"
#include "manager/object/json.h"
#include "manager/object/object_codec.h"

namespace mandate::memcached {
namespace {

using testing::HasSubstr;

// The Deployment of the document's operator.
TEST(DeploymentTest, IsTheDocuments) {
  const std::string json = *EncodeObject(MakeDeployment(Sample(3)), Encoding::kJson);
  EXPECT_EQ(
      *ParseJson(json),
      *ParseJson(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{)"
                 R"("labels":{"memcachedLabel":"memcached-memcached-sample-denied"},)"
                 R"("name":"memcached-sample-denied","namespace":"denied","ownerReferences":[{)"
                 R"("apiVersion":"cache.example.com/v1alpha1","blockOwnerDeletion":true,)"
                 R"("controller":true,"kind":"Memcached","name":"memcached-sample-denied",)"
                 R"("uid":"uid-1"}]},"spec":{"replicas":3,"selector":{"matchLabels":{)"
                 R"("app":"memcached","memcachedLabel":"memcached-memcached-sample-denied",)"
                 R"("memcached_cr":"memcached-sample-denied"}},"template":{"metadata":{"labels":{)"
                 R"("app":"memcached","memcachedLabel":"memcached-memcached-sample-denied",)"
                 R"("memcached_cr":"memcached-sample-denied"}},"spec":{"containers":[{)"
                 R"("command":["memcached","-m=64","-o","modern","-v"],)"
                 R"("image":"memcached:1.4.36-alpine","name":"memcached",)"
                 R"("ports":[{"containerPort":11211,"name":"memcached"}],"securityContext":{)"
                 R"("allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},)"
                 R"("runAsNonRoot":true,"runAsUser":1000}}],"securityContext":{)"
                 R"("runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}}}}}})"))
      << json;
}

TEST(DeploymentTest, TheSelectorFindsTheDeploymentAndItsPods) {
  const auto selector = SelectorOf("memcached-sample-denied");
  ASSERT_TRUE(selector.ok());
  EXPECT_EQ(selector->ToString(), "memcachedLabel=memcached-memcached-sample-denied");
  const appsv1::Deployment deployment = MakeDeployment(Sample());
  EXPECT_TRUE(selector->Matches(deployment.metadata().labels()));
  EXPECT_TRUE(selector->Matches(deployment.spec().template_().metadata().labels()));
  EXPECT_THAT(SelectorOf(std::string(54, 'x')).status().message(), HasSubstr("metadata.name"));
}

TEST(DeploymentTest, IsComparedByTheFieldsOfThePlan) {
  struct Row {
    const char* what;
    std::function<void(appsv1::Deployment&)> change;
    bool as_desired;
  };
  const Row rows[] = {
      {"nothing", [](auto&) {}, true},
      {"defaults of the server",
       [](auto& d) {
         d.mutable_spec()->set_revisionhistorylimit(10);
         auto& container =
             *d.mutable_spec()->mutable_template_()->mutable_spec()->mutable_containers(0);
         container.set_imagepullpolicy("IfNotPresent");
         container.mutable_ports(0)->set_protocol("TCP");
         d.mutable_status()->set_replicas(3);
       },
       true},
      {"a label of others", [](auto& d) { (*d.mutable_metadata()->mutable_labels())["a"] = "b"; },
       true},
      {"one more owner", [](auto& d) { d.mutable_metadata()->add_ownerreferences(); }, true},
      {"the replicas", [](auto& d) { d.mutable_spec()->set_replicas(2); }, false},
      {"no replicas", [](auto& d) { d.mutable_spec()->clear_replicas(); }, false},
      {"the label", [](auto& d) { d.mutable_metadata()->clear_labels(); }, false},
      {"the owner", [](auto& d) { d.mutable_metadata()->clear_ownerreferences(); }, false},
      {"the image",
       [](auto& d) {
         d.mutable_spec()->mutable_template_()->mutable_spec()->mutable_containers(0)->set_image(
             "memcached");
       },
       false},
      {"a container of others",
       [](auto& d) {
         auto& pod = *d.mutable_spec()->mutable_template_()->mutable_spec();
         pod.add_containers()->set_name("sidecar");
         pod.mutable_containers()->SwapElements(0, 1);
       },
       true},
      {"a port of others",
       [](auto& d) {
         d.mutable_spec()
             ->mutable_template_()
             ->mutable_spec()
             ->mutable_containers(0)
             ->add_ports()
             ->set_containerport(99);
       },
       true},
      {"another name of the container",
       [](auto& d) {
         d.mutable_spec()->mutable_template_()->mutable_spec()->mutable_containers(0)->set_name(
             "other");
       },
       false},
      {"the port",
       [](auto& d) {
         d.mutable_spec()
             ->mutable_template_()
             ->mutable_spec()
             ->mutable_containers(0)
             ->mutable_ports(0)
             ->set_containerport(99);
       },
       false},
      {"the user",
       [](auto& d) {
         d.mutable_spec()
             ->mutable_template_()
             ->mutable_spec()
             ->mutable_containers(0)
             ->mutable_securitycontext()
             ->set_runasuser(0);
       },
       false},
  };
  const appsv1::Deployment desired = MakeDeployment(Sample(3));
  for (const Row& row : rows) {
    appsv1::Deployment actual = desired;
    row.change(actual);
    EXPECT_EQ(IsAsDesired(actual, desired), row.as_desired) << row.what;
  }
}

}  // namespace
}  // namespace mandate::memcached
