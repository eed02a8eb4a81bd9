#include "manager/object/testing/kubernetes_types.h"

#include "gtest/gtest.h"

namespace mandate {
namespace {

class KubernetesTypesTest : public testing::Test {
 protected:
  // The JSON of a Deployment after zeros are dropped.
  std::string Dropped(std::string_view json) {
    const auto message = types_.New(*types_.Find("apps/v1", "Deployment"));
    EXPECT_TRUE(types_.FromJson(json, *message, {.strict = true}).ok());
    types_.DropZeros(*message);
    return *types_.ToJson(*message, nullptr);
  }

  const KubernetesTypes& types_ = KubernetesTypes::Of("kubernetes");
};

TEST_F(KubernetesTypesTest, FindsKinds) {
  ASSERT_NE(types_.Find("v1", "Pod"), nullptr);
  EXPECT_EQ(types_.Find("v1", "Pod")->full_name(), "k8s.io.api.core.v1.Pod");
  EXPECT_EQ(types_.Find("internal.apiserver.k8s.io/v1alpha1", "StorageVersion")->full_name(),
            "k8s.io.api.apiserverinternal.v1alpha1.StorageVersion");
  EXPECT_EQ(types_.Find("v1", "Status")->full_name(),
            "k8s.io.apimachinery.pkg.apis.meta.v1.Status");
  EXPECT_EQ(types_.Find("v1", "Nothing"), nullptr);
  EXPECT_EQ(types_.Find("nothing/v1", "Pod"), nullptr);
}

TEST_F(KubernetesTypesTest, DropsOnlyWhatGoDrops) {
  // replicas is a pointer, minReadySeconds is not, and template is a struct that is always written.
  EXPECT_EQ(Dropped(R"({"spec":{"replicas":0,"minReadySeconds":0,"template":{"metadata":{}}}})"),
            R"({"spec":{"replicas":0}})");
  EXPECT_EQ(Dropped(R"({"spec":{"selector":{},"paused":false}})"), R"({"spec":{"selector":{}}})");
  EXPECT_EQ(Dropped(R"({"spec":{"template":{"spec":{"containers":[{"name":""}]}}}})"),
            R"({"spec":{"template":{"spec":{"containers":[{}]}}}})");
  EXPECT_EQ(Dropped(R"({"metadata":{"labels":{"a":""},"annotations":{}}})"),
            R"({"metadata":{"labels":{"a":""}}})");
}

TEST_F(KubernetesTypesTest, OnlyMetadata) {
  const auto& few = KubernetesTypes::Of("kubernetes", /*only_metadata=*/true);
  EXPECT_EQ(few.Find("apps/v1", "Deployment")->field_count(), 1);
  EXPECT_EQ(few.Find("v1", "ObjectMeta")->field_count(),
            types_.Find("v1", "ObjectMeta")->field_count());
}

}  // namespace
}  // namespace mandate
