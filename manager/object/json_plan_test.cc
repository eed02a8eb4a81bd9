// Compares the tables of names, flattened fields and hooks with every message of Kubernetes and its
// Go type. So a typing error in them, or a new case of a new release, fails a test.
#include "manager/object/json_plan.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "manager/object/json_names.h"
#include "manager/object/testing/kubernetes_types.h"

namespace mandate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using testing::UnorderedElementsAre;

// The parameter is this release of the modules, or the next one.
class KubernetesMessages : public testing::TestWithParam<const char*> {
 protected:
  const KubernetesTypes& types_ = KubernetesTypes::Of(GetParam());
};

// The tables of json_names.cc equal the Go tags.
TEST_P(KubernetesMessages, NamesAndFlattenedFieldsAreThoseOfTheGoTags) {
  int fields = 0;
  int flattened = 0;
  int renamed = 0;
  std::set<std::string> untagged;
  types_.ForEachMessage([&](const Descriptor& message) {
    // The envelope is written by hand, and only in protobuf.
    if (HookOf(message) != JsonHook::kNone || message.name() == "Unknown") return;
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      const auto go = types_.go_fields().find({message.full_name(), field.number()});
      if (go == types_.go_fields().end()) {
        untagged.insert(message.full_name());
        continue;
      }
      ++fields;
      EXPECT_EQ(IsFlattened(field.full_name()), go->second.json_name.empty()) << field.full_name();
      if (go->second.json_name.empty()) {
        ++flattened;
        continue;
      }
      EXPECT_EQ(JsonName(field), go->second.json_name) << field.full_name();
      renamed += JsonName(field) == field.name() ? 0 : 1;
    }
  });
  EXPECT_GT(fields, 3500);
  EXPECT_GE(flattened, 20);
  EXPECT_GE(renamed, 10);
  // Go types that are defined as another type, and types of the API machinery without tags.
  EXPECT_THAT(untagged,
              UnorderedElementsAre("k8s.io.api.admissionregistration.v1alpha1.MatchCondition",
                                   "k8s.io.api.core.v1.List"));
}

TEST_P(KubernetesMessages, HookedMessages) {
  std::vector<std::string> names;
  std::vector<std::string> lists;
  types_.ForEachMessage([&](const Descriptor& message) {
    const JsonHook hook = HookOf(message);
    if (hook == JsonHook::kNone) return;
    (hook == JsonHook::kStringList ? lists : names).push_back(message.full_name().substr(7));
  });
  EXPECT_THAT(
      names,
      UnorderedElementsAre(
          "apimachinery.pkg.api.resource.Quantity", "apimachinery.pkg.api.resource.QuantityValue",
          "apimachinery.pkg.apis.meta.v1.Duration", "apimachinery.pkg.apis.meta.v1.FieldsV1",
          "apimachinery.pkg.apis.meta.v1.MicroTime", "apimachinery.pkg.apis.meta.v1.Time",
          "apimachinery.pkg.runtime.RawExtension", "apimachinery.pkg.util.intstr.IntOrString"));
  // The next release has one more list.
  EXPECT_THAT(lists,
              testing::IsSupersetOf<std::string>(
                  {"api.authentication.v1.ExtraValue", "api.authentication.v1beta1.ExtraValue",
                   "api.authorization.v1.ExtraValue", "api.authorization.v1beta1.ExtraValue",
                   "api.certificates.v1.ExtraValue", "api.certificates.v1beta1.ExtraValue",
                   "apimachinery.pkg.apis.meta.v1.Verbs"}));
}

// list_codec.cc relies on this, because it reads lists without knowing their type.
TEST_P(KubernetesMessages, EveryListHasItsItemsInFieldTwo) {
  int lists = 0;
  types_.ForEachMessage([&](const Descriptor& message) {
    const FieldDescriptor* items = message.FindFieldByName("items");
    const FieldDescriptor* metadata = message.FindFieldByName("metadata");
    if (items == nullptr || metadata == nullptr) return;
    // meta/v1beta1 is older than the rule, and no server uses it in an answer.
    if (message.file()->package() == "k8s.io.apimachinery.pkg.apis.meta.v1beta1") return;
    ++lists;
    EXPECT_EQ(items->number(), 2) << message.full_name();
    EXPECT_EQ(metadata->number(), 1) << message.full_name();
  });
  EXPECT_GT(lists, 50);
}

INSTANTIATE_TEST_SUITE_P(Releases, KubernetesMessages,
                         testing::Values("kubernetes", "kubernetes_next"));

TEST(JsonPlanTest, IsWorkedOutOnce) {
  using k8s::io::api::rbac::v1::ClusterRole;
  std::vector<const MessagePlan*> plans(8);
  std::vector<std::thread> threads;
  for (const MessagePlan*& plan : plans) {
    threads.emplace_back([&plan] { plan = PlanOf(*ClusterRole::descriptor()); });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_NE(plans[0], nullptr);
  EXPECT_THAT(plans, testing::Each(plans[0]));
  EXPECT_TRUE(plans[0]->has_metadata);
  EXPECT_EQ(plans[0]->members.count("rules"), 1u);
}

}  // namespace
}  // namespace mandate
