#include "manager/admission/review_flow.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(FlowOf, IsTheUserOrTheNamespaceOfAServiceAccount) {
  EXPECT_EQ(FlowOf("ann"), "ann");
  EXPECT_EQ(FlowOf(""), "");
  EXPECT_EQ(FlowOf("system:serviceaccount:shop:cart"), "system:serviceaccount:shop");
  EXPECT_EQ(FlowOf("system:serviceaccount:shop:cart-2"), FlowOf("system:serviceaccount:shop:cart"));
  EXPECT_NE(FlowOf("system:serviceaccount:other:cart"), FlowOf("system:serviceaccount:shop:cart"));
  EXPECT_EQ(FlowOf("system:serviceaccount:"), "system:serviceaccount:") << "not a ServiceAccount";
  EXPECT_EQ(FlowOf("system:node:a"), "system:node:a");
}

}  // namespace
}  // namespace mandate
