#include "controllers/scope/generated_names.h"

#include <gtest/gtest.h>

#include <set>

#include "manager/core/strings.h"
#include "manager/object/names.h"

namespace mandate::scope {
namespace {

TEST(GeneratedNamesTest, AClusterRolesNameDependsOnTheTemplatesUid) {
  for (const char* generate_name : {"fooClusterRole-", "fooClusterRole"}) {
    const std::string name = ClusterRoleName("uid-1", generate_name);
    EXPECT_TRUE(name.starts_with("scope-template:fooClusterRole-")) << name;
    EXPECT_EQ(name.size(), std::string("scope-template:fooClusterRole-").size() + 10);
    EXPECT_EQ(name, ClusterRoleName("uid-1", generate_name));
    EXPECT_NE(name, ClusterRoleName("uid-2", generate_name));
  }
  EXPECT_NE(ClusterRoleName("uid", "a"), ClusterRoleName("uid", "a-"));
}

TEST(GeneratedNamesTest, AClusterRolesNameTellsItsTemplate) {
  const std::string name = ClusterRoleName("uid", "a-");
  for (const std::string& own : {name, ClusterRoleName("uid", "a"), ClusterRoleName("uid", "-")}) {
    EXPECT_TRUE(IsClusterRoleNameOf("uid", own)) << own;
    EXPECT_FALSE(IsClusterRoleNameOf("uid-2", own)) << own;
  }
  for (const std::string_view other :
       {"", "scope-template:", "scope-template:a-", "scope-template:a-bcdfghjklm",
        "scope-template:-bcdfghjkl", "cluster-admin"}) {
    EXPECT_FALSE(IsClusterRoleNameOf("uid", other)) << other;
  }
  EXPECT_FALSE(IsClusterRoleNameOf("uid", std::string_view(name).substr(kClusterRolePrefix.size())))
      << "others may make such names";
}

// A tenant knows the UID of another template, and so the names of its roles.
TEST(GeneratedNamesTest, NoTemplateCanHaveTheNameOfAnothersRole) {
  const std::string name = ClusterRoleName("victim", "admin-").substr(kClusterRolePrefix.size());
  const std::string dash = name + "-";
  for (std::string_view spelt : {std::string_view(name), std::string_view(dash)}) {
    EXPECT_NE(ClusterRoleName("thief", spelt), ClusterRoleName("victim", "admin-"));
    EXPECT_FALSE(IsClusterRoleNameOf("victim", ClusterRoleName("thief", spelt)));
  }
}

TEST(GeneratedNamesTest, BindingNamesDifferByInstanceRoleAndNamespace) {
  std::set<std::string> names;
  for (const char* uid : {"u1", "u2"}) {
    for (const char* role : {"a", "a-", "b"}) {
      for (const char* ns : {"", "foo", "bar"}) names.insert(BindingName(uid, role, ns));
    }
  }
  EXPECT_EQ(names.size(), 18u);
  EXPECT_TRUE(BindingName("u", "reader", "foo").starts_with("reader-"));
  EXPECT_TRUE(BindingName("u", "reader-", "foo").starts_with("reader-"));
  EXPECT_FALSE(BindingName("u", "reader-", "foo").starts_with("reader--"));
}

// The separator keeps ("ab", "c") and ("a", "bc") apart.
TEST(GeneratedNamesTest, PartsDoNotRunTogether) {
  EXPECT_NE(BindingName("u", "role-", "x").substr(5), BindingName("ur", "ole-", "x").substr(4));
}

TEST(GeneratedNamesTest, LabelValuesAreValidForAnyName) {
  EXPECT_EQ(GenerateNameLabelValue("reader"), "reader");
  for (const std::string& name : {std::string("fooClusterRole-"), std::string(200, 'x'),
                                  std::string("system:node"), std::string("_x_")}) {
    const std::string value = GenerateNameLabelValue(name);
    EXPECT_TRUE(CheckLabelValue(value).ok()) << name << " -> " << value;
    EXPECT_FALSE(value.empty());
  }
}

TEST(GeneratedNamesTest, ABindingsNameTellsItsInstance) {
  const std::string part = InstancePart("uid");
  EXPECT_EQ(part.size(), 4u);
  EXPECT_NE(part, InstancePart("uid-2"));
  for (const std::string_view generate_name : {"a-", "a", "-", "fooClusterRole-"}) {
    for (const std::string_view ns : {"", "ns", "other"}) {
      const std::string name = BindingName("uid", generate_name, ns);
      EXPECT_EQ(InstancePartOf(name), part) << name;
      EXPECT_TRUE(IsBindingNameOf("uid", name, ns)) << name;
      EXPECT_FALSE(IsBindingNameOf("uid-2", name, ns)) << name;
      EXPECT_FALSE(IsBindingNameOf("uid", name, "elsewhere")) << name;
    }
  }
  // The part alone does not identify the owner.
  const std::string forged = StrCat("a-", part, "bcdfgh");
  EXPECT_EQ(InstancePartOf(forged), part);
  EXPECT_FALSE(IsBindingNameOf("uid", forged, "ns"));
}

TEST(GeneratedNamesTest, NoBindingHasSuchAName) {
  for (const std::string_view name :
       {"", "admin", "bcdfghjklm", "-bcdfghjkl", "a.bcdfghjklm", "a-bcdfghjkla", "a-bcdfghj-lm"}) {
    EXPECT_EQ(InstancePartOf(name), "") << name;
  }
}

}  // namespace
}  // namespace mandate::scope
