#include "manager/core/sha256.h"

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

// FIPS 180-4's example.
TEST(Sha256Test, IsTheDigestOfAllParts) {
  const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(absl::BytesToHexString(Sha256({"abc"})), abc);
  EXPECT_EQ(absl::BytesToHexString(Sha256({"a", "", "bc"})), abc);
  EXPECT_NE(absl::BytesToHexString(Sha256({})), abc);
}

}  // namespace
}  // namespace mandate
