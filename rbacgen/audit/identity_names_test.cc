#include "rbacgen/audit/identity_names.h"

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(ComponentOfUsername, RecognisesTheManagersAccounts) {
  const auto of = [](std::string_view name) {
    return ComponentOfUsername(name, "ns", "mm").value_or("(none)");
  };
  EXPECT_EQ(of("system:serviceaccount:ns:mm"), "base");
  EXPECT_EQ(of("system:serviceaccount:ns:mm-scope-instance"), "scope-instance");
  EXPECT_EQ(of("system:serviceaccount:ns:mm-"), "(none)");
  EXPECT_EQ(of("system:serviceaccount:evil:mm"), "(none)");
  EXPECT_EQ(of("system:serviceaccount:ns2:mm-scope-instance"), "(none)");
  EXPECT_EQ(of("system:serviceaccount:ns:mmx"), "(none)");
  EXPECT_EQ(of("system:serviceaccount:mm:other"), "(none)");
  EXPECT_EQ(of("system:serviceaccount:mm"), "(none)");
  EXPECT_EQ(of("mm"), "(none)");
  EXPECT_EQ(of(""), "(none)");
}

TEST(ComponentOfUserAgent, RecognisesTheManagersUserAgents) {
  const auto of = [](std::string_view agent) {
    return ComponentOfUserAgent(agent, "mm/").value_or("(none)");
  };
  EXPECT_EQ(of("mm/1.0 (linux/amd64)"), "base");
  EXPECT_EQ(of("mm/1.0 (linux/amd64) base"), "base");
  EXPECT_EQ(of("mm/1.0 (linux/amd64) leader-election"), "base");
  EXPECT_EQ(of("mm/1.0 (linux/amd64) base leader-election"), "base");
  EXPECT_EQ(of("mm/1.0 (linux/amd64) scope-instance"), "scope-instance");
  EXPECT_EQ(of("mm/1.0 scope-instance"), "scope-instance");
  EXPECT_EQ(of("mm/"), "base");
  EXPECT_EQ(of("kubectl/1.0"), "(none)");
}

TEST(ShortNames, ShortenNamesForTables) {
  EXPECT_EQ(ShortUsername("system:serviceaccount:ns:name"), "ns/name");
  EXPECT_EQ(ShortUsername("kubernetes-admin"), "kubernetes-admin");
  EXPECT_EQ(ShortUsername(""), "(no user)");
  EXPECT_EQ(ShortUserAgent("mm/1 (linux/amd64) x"), "mm/1 x");
  EXPECT_EQ(ShortUserAgent("mm/1"), "mm/1");
  EXPECT_EQ(ShortUserAgent("mm/1 (open"), "mm/1 (open");
  EXPECT_EQ(ShortCredentialId("JTI=7130fe73-9f95-4667"), "7130fe73");
  EXPECT_EQ(ShortCredentialId("x"), "x");
}

}  // namespace
}  // namespace mandate::rbacgen
