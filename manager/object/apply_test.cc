#include "manager/object/apply.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "k8s.io/api/networking/v1/generated.pb.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

constexpr KindInfo kIngress = {
    .group = "networking.k8s.io", .version = "v1", .kind = "Ingress", .plural = "ingresses"};

k8s::io::api::networking::v1::Ingress MakeIngress() {
  k8s::io::api::networking::v1::Ingress ingress;
  ingress.mutable_metadata()->set_namespace_("n");
  ingress.mutable_metadata()->set_name("i");
  ingress.mutable_metadata()->set_resourceversion("3");
  ingress.mutable_metadata()->set_generation(2);
  ingress.mutable_metadata()->set_selflink("/x");
  ingress.mutable_metadata()->mutable_creationtimestamp()->set_seconds(1);
  ingress.mutable_metadata()->add_managedfields()->set_manager("m");
  (*ingress.mutable_metadata()->mutable_labels())["a"] = "b";
  ingress.mutable_spec()->set_ingressclassname("c");
  ingress.mutable_status()->mutable_loadbalancer()->add_ingress()->set_ip("10.0.0.1");
  return ingress;
}

TEST(ApplyTest, OwnsWhatIsPresentButStatus) {
  EXPECT_EQ(*ApplyBody(MakeIngress(), kIngress),
            R"({"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"i",)"
            R"("namespace":"n","resourceVersion":"3","labels":{"a":"b"}},)"
            R"("spec":{"ingressClassName":"c"}})");
}

TEST(ApplyTest, OwnsStatusAlone) {
  EXPECT_EQ(*ApplyBody(MakeIngress(), kIngress, ApplyPart::kStatus),
            R"({"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"i",)"
            R"("namespace":"n","resourceVersion":"3"},)"
            R"("status":{"loadBalancer":{"ingress":[{"ip":"10.0.0.1"}]}}})");
}

TEST(ApplyTest, TypedAndUnchanged) {
  rbacv1::ClusterRole role;
  role.mutable_metadata()->set_name("r");
  role.mutable_metadata()->set_generation(1);
  EXPECT_EQ(*ApplyBody(role),
            R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)"
            R"("metadata":{"name":"r"}})");
  EXPECT_EQ(role.metadata().generation(), 1);
}

TEST(ApplyTest, NeedsAName) {
  EXPECT_EQ(ApplyBody(rbacv1::ClusterRole()).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ApplyBody(rbacv1::PolicyRule(), kIngress).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace mandate
