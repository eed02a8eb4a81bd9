// The tables of names, flattened fields and hooks against every .proto file of Kubernetes, so that
// a typing error in them, or a new module version's new case, does not go unseen.
#include "manager/object/json_plan.h"

#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/compiler/importer.h"
#include "gtest/gtest.h"
#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "manager/object/json_names.h"

namespace mandate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::compiler::DiskSourceTree;
using google::protobuf::compiler::Importer;
using google::protobuf::compiler::MultiFileErrorCollector;
using testing::UnorderedElementsAre;

constexpr char kRoot[] = "../kubernetes";

class Errors final : public MultiFileErrorCollector {
  void AddError(const std::string& file, int line, int, const std::string& message) override {
    ADD_FAILURE() << file << ":" << line << ": " << message;
  }
};

// Every .proto file of the modules, without a line of generated code.
class KubernetesProtos : public testing::Test {
 protected:
  KubernetesProtos() : importer_(&tree_, &errors_) { tree_.MapPath("", kRoot); }

  void Visit(const std::function<void(const Descriptor&)>& visit) {
    int files = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(kRoot) + "/k8s.io")) {
      if (entry.path().filename() != "generated.proto") continue;
      const auto* file = importer_.Import(entry.path().lexically_relative(kRoot).string());
      ASSERT_NE(file, nullptr) << entry.path();
      for (int i = 0; i < file->message_type_count(); ++i) visit(*file->message_type(i));
      ++files;
    }
    EXPECT_GT(files, 60);
  }

  std::vector<std::string> FieldsWhere(const std::function<bool(const FieldDescriptor&)>& wanted) {
    std::vector<std::string> names;
    Visit([&](const Descriptor& message) {
      for (int i = 0; i < message.field_count(); ++i) {
        if (wanted(*message.field(i))) names.push_back(message.field(i)->full_name().substr(7));
      }
    });
    return names;
  }

  DiskSourceTree tree_;
  Errors errors_;
  Importer importer_;
};

// From the Go tags: fields with json:",inline".
TEST_F(KubernetesProtos, FlattenedFields) {
  EXPECT_THAT(
      FieldsWhere([](const FieldDescriptor& f) { return IsFlattened(f.full_name()); }),
      UnorderedElementsAre(
          "api.admissionregistration.v1.NamedRuleWithOperations.ruleWithOperations",
          "api.admissionregistration.v1.RuleWithOperations.rule",
          "api.admissionregistration.v1alpha1.NamedRuleWithOperations.ruleWithOperations",
          "api.admissionregistration.v1beta1.NamedRuleWithOperations.ruleWithOperations",
          "api.core.v1.ConfigMapEnvSource.localObjectReference",
          "api.core.v1.ConfigMapKeySelector.localObjectReference",
          "api.core.v1.ConfigMapProjection.localObjectReference",
          "api.core.v1.ConfigMapVolumeSource.localObjectReference",
          "api.core.v1.EphemeralContainer.ephemeralContainerCommon",
          "api.core.v1.PersistentVolumeSpec.persistentVolumeSource", "api.core.v1.Probe.handler",
          "api.core.v1.SecretEnvSource.localObjectReference",
          "api.core.v1.SecretKeySelector.localObjectReference",
          "api.core.v1.SecretProjection.localObjectReference", "api.core.v1.Volume.volumeSource",
          "api.extensions.v1beta1.IngressRule.ingressRuleValue",
          "api.networking.v1.IngressRule.ingressRuleValue",
          "api.networking.v1beta1.IngressRule.ingressRuleValue",
          "api.resource.v1.DeviceAllocationConfiguration.deviceConfiguration",
          "api.resource.v1.DeviceClaimConfiguration.deviceConfiguration",
          "api.resource.v1.DeviceClassConfiguration.deviceConfiguration",
          "api.resource.v1beta1.DeviceAllocationConfiguration.deviceConfiguration",
          "api.resource.v1beta1.DeviceClaimConfiguration.deviceConfiguration",
          "api.resource.v1beta1.DeviceClassConfiguration.deviceConfiguration",
          "api.resource.v1beta2.DeviceAllocationConfiguration.deviceConfiguration",
          "api.resource.v1beta2.DeviceClaimConfiguration.deviceConfiguration",
          "api.resource.v1beta2.DeviceClassConfiguration.deviceConfiguration"));
}

// From the Go tags: fields whose JSON name is not their protobuf name.
TEST_F(KubernetesProtos, NamesSpeltOtherwise) {
  EXPECT_THAT(FieldsWhere([](const FieldDescriptor& f) {
                return !JsonNameOverride(f.full_name()).empty();
              }),
              UnorderedElementsAre(
                  "api.admissionregistration.v1.MutatingWebhookConfiguration.Webhooks",
                  "api.admissionregistration.v1.ValidatingWebhookConfiguration.Webhooks",
                  "api.admissionregistration.v1.Validation.Expression",
                  "api.admissionregistration.v1.Variable.Expression",
                  "api.admissionregistration.v1.Variable.Name",
                  "api.admissionregistration.v1alpha1.Validation.Expression",
                  "api.admissionregistration.v1alpha1.Variable.Expression",
                  "api.admissionregistration.v1alpha1.Variable.Name",
                  "api.admissionregistration.v1beta1.MutatingWebhookConfiguration.Webhooks",
                  "api.admissionregistration.v1beta1.ValidatingWebhookConfiguration.Webhooks",
                  "api.admissionregistration.v1beta1.Validation.Expression",
                  "api.admissionregistration.v1beta1.Variable.Expression",
                  "api.admissionregistration.v1beta1.Variable.Name",
                  "api.authentication.v1.BoundObjectReference.uID",
                  "api.networking.v1.IngressClassParametersReference.aPIGroup",
                  "api.networking.v1beta1.IngressClassParametersReference.aPIGroup"));
}

// A name of an unusual shape is one of the above, or known to be its own JSON name.
TEST_F(KubernetesProtos, NoOtherNameLooksOdd) {
  EXPECT_THAT(FieldsWhere([](const FieldDescriptor& f) {
                const std::string& name = f.name();
                const bool odd =
                    std::isupper(static_cast<unsigned char>(name[0])) ||
                    (name.size() > 1 && std::isupper(static_cast<unsigned char>(name[1])));
                return odd && JsonNameOverride(f.full_name()).empty();
              }),
              UnorderedElementsAre("api.core.v1.DaemonEndpoint.Port",
                                   "apimachinery.pkg.apis.meta.v1.FieldsV1.Raw"));
}

TEST_F(KubernetesProtos, HookedMessages) {
  std::vector<std::string> names;
  std::vector<std::string> lists;
  Visit([&](const Descriptor& message) {
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
  EXPECT_THAT(lists,
              UnorderedElementsAre(
                  "api.authentication.v1.ExtraValue", "api.authentication.v1beta1.ExtraValue",
                  "api.authorization.v1.ExtraValue", "api.authorization.v1beta1.ExtraValue",
                  "api.certificates.v1.ExtraValue", "api.certificates.v1beta1.ExtraValue",
                  "apimachinery.pkg.apis.meta.v1.Verbs"));
}

// list_codec.cc reads lists without their type.
TEST_F(KubernetesProtos, EveryListHasItsItemsInFieldTwo) {
  int lists = 0;
  Visit([&](const Descriptor& message) {
    const FieldDescriptor* items = message.FindFieldByName("items");
    const FieldDescriptor* metadata = message.FindFieldByName("metadata");
    if (items == nullptr || metadata == nullptr) return;
    // meta/v1beta1 is older than the rule, and no server answers with it.
    if (message.file()->package() == "k8s.io.apimachinery.pkg.apis.meta.v1beta1") return;
    ++lists;
    EXPECT_EQ(items->number(), 2) << message.full_name();
    EXPECT_EQ(metadata->number(), 1) << message.full_name();
  });
  EXPECT_GT(lists, 50);
}

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
