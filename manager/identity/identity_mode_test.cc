#include "manager/identity/identity_mode.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(ParseIdentityMode, ParsesThreeModes) {
  EXPECT_EQ(ParseIdentityMode("token").value(), IdentityMode::kToken);
  EXPECT_EQ(ParseIdentityMode("impersonate").value(), IdentityMode::kImpersonate);
  EXPECT_EQ(ParseIdentityMode("single").value(), IdentityMode::kSingle);
  for (const char* unknown : {"", "Token", "tokens", "none"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseIdentityMode(unknown).status())) << unknown;
  }
}

}  // namespace
}  // namespace mandate
