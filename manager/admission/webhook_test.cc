#include "manager/admission/webhook.h"

#include <gtest/gtest.h>

#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

TEST(WebhookPath, IsThatOfControllerRuntime) {
  EXPECT_EQ(WebhookPath(WebhookType::kMutating, KindOf<corev1::Pod>::value), "/mutate--v1-pod");
  EXPECT_EQ(WebhookPath(WebhookType::kValidating, {.group = "operators.coreos.com",
                                                   .version = "v1alpha1",
                                                   .kind = "ScopeTemplate",
                                                   .plural = "scopetemplates"}),
            "/validate-operators-coreos-com-v1alpha1-scopetemplate");
}

}  // namespace
}  // namespace mandate
