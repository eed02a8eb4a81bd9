#include "manager/object/apply.h"

#include <string>
#include <utility>

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
  EXPECT_EQ(*ApplyBody(role),
            R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)"
            R"("metadata":{"name":"r"}})");
}

// Invariant 8: a client never sends a whole object that it has read.
TEST(ApplyTest, AnObjectThatWasReadIsRejected) {
  using ObjectMeta = k8s::io::apimachinery::pkg::apis::meta::v1::ObjectMeta;
  const std::pair<const char*, void (*)(ObjectMeta*)> kFields[] = {
      {"managedFields", [](ObjectMeta* m) { m->add_managedfields(); }},
      {"generation", [](ObjectMeta* m) { m->set_generation(1); }},
      {"creationTimestamp", [](ObjectMeta* m) { m->mutable_creationtimestamp(); }},
      {"deletionTimestamp", [](ObjectMeta* m) { m->mutable_deletiontimestamp(); }},
      {"deletionGracePeriodSeconds", [](ObjectMeta* m) { m->set_deletiongraceperiodseconds(0); }},
      {"selfLink", [](ObjectMeta* m) { m->set_selflink("/x"); }},
  };
  for (const auto& [field, set] : kFields) {
    rbacv1::ClusterRole role;
    role.mutable_metadata()->set_name("r");
    set(role.mutable_metadata());
    for (const ApplyPart part : {ApplyPart::kMain, ApplyPart::kStatus}) {
      const absl::Status status = ApplyBody(role, part).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << field;
      EXPECT_EQ(
          status.message(),
          std::string("metadata.") + field +
              ": the ClusterRole r was read from the server, and an apply would take ownership "
              "of all its fields; apply a new object that has only the fields to own");
    }
  }
}

TEST(ApplyTest, NeedsAName) {
  EXPECT_EQ(ApplyBody(rbacv1::ClusterRole()).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ApplyBody(rbacv1::PolicyRule(), kIngress).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace mandate
