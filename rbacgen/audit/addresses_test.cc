#include "rbacgen/audit/addresses.h"

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(AddressRange, ReadsAddressesAndCidrs) {
  for (const char* text : {"10.0.0.7", "10.0.0.0/8", "0.0.0.0/0", "fd00::1", "fd00::/8", "::1"}) {
    EXPECT_TRUE(AddressRange::Parse(text)) << text;
  }
  for (const char* text : {"", "10.0.0", "10.0.0.7/33", "10.0.0.7/", "10.0.0.7/x", "10.0.0.7/-1",
                           "fd00::/129", "host", "10.0.0.7 "}) {
    EXPECT_FALSE(AddressRange::Parse(text)) << text;
  }
}

TEST(AddressRange, ContainsAddressesWithItsPrefix) {
  const auto in = [](const char* range, const char* address) {
    return AddressRange::Parse(range)->Contains(*AddressRange::Parse(address));
  };
  EXPECT_TRUE(in("10.0.0.0/8", "10.255.1.2"));
  EXPECT_FALSE(in("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(in("10.0.0.128/25", "10.0.0.200"));
  EXPECT_FALSE(in("10.0.0.128/25", "10.0.0.100"));
  EXPECT_TRUE(in("0.0.0.0/0", "1.2.3.4"));
  EXPECT_FALSE(in("0.0.0.0/0", "::1"));
  EXPECT_TRUE(in("fd00::/8", "fd12::1"));
  EXPECT_FALSE(in("10.0.0.7", "10.0.0.0/8"));
}

TEST(AreElsewhere, ComparesOneFamilyAndIgnoresAllowedAddresses) {
  const std::vector<AddressRange> gateway = {*AddressRange::Parse("10.0.0.0/24")};
  EXPECT_FALSE(AreElsewhere("10.0.0.1", "10.0.0.1", {}));
  EXPECT_TRUE(AreElsewhere("10.0.0.1", "10.0.0.2", {}));
  EXPECT_FALSE(AreElsewhere("10.0.0.1", "10.0.0.2", gateway));
  EXPECT_TRUE(AreElsewhere("10.0.0.1", "10.0.1.2", gateway));
  EXPECT_FALSE(AreElsewhere("10.0.0.1", "fd00::1", {})) << "a pod may have both";
  EXPECT_FALSE(AreElsewhere("fd00::1", "fd00:0::1", {})) << "one address, two spellings";
  EXPECT_FALSE(AreElsewhere("", "10.0.0.2", {})) << "the log does not say";
}

}  // namespace
}  // namespace mandate::rbacgen
