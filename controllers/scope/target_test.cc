#include "controllers/scope/target.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/scope/testing_objects.h"

namespace mandate::scope {
namespace {

using Names = std::set<std::string>;
using Problems = std::vector<std::string>;

// "red" and "blue" have labels. "dying" and "deleted" are being deleted; a different field of each
// shows this.
std::vector<corev1::Namespace> Namespaces() {
  std::vector<corev1::Namespace> namespaces;
  for (const std::string_view json :
       {R"({"metadata": {"name": "red", "labels": {"color": "red", "size": "big"}},
            "status": {"phase": "Active"}})",
        R"({"metadata": {"name": "blue", "labels": {"color": "blue"}}})",
        R"({"metadata": {"name": "plain"}})",
        R"({"metadata": {"name": "dying", "labels": {"color": "red"}},
            "status": {"phase": "Terminating"}})",
        R"({"metadata": {"name": "deleted", "labels": {"color": "red"},
                         "deletionTimestamp": "2026-01-02T03:04:05Z"}})"}) {
    namespaces.push_back(FromJsonOrDie<corev1::Namespace>(json));
  }
  return namespaces;
}

TEST(ResolveTargetTest, Where) {
  const Problems none;
  const struct {
    const char* name;
    const char* spec;
    bool cluster;
    Names namespaces;
    Names usable;
    Problems problems;
  } rows[] = {
      {"nothing", "", true, {}, {}, none},
      {"an empty list", R"("namespaces": [])", true, {}, {}, none},
      {"null selector", R"("namespaceSelector": null)", true, {}, {}, none},
      {"named",
       R"("namespaces": ["plain", "red"])",
       false,
       {"plain", "red"},
       {"plain", "red"},
       none},
      {"named twice", R"("namespaces": ["red", "red"])", false, {"red"}, {"red"}, none},
      {"missing",
       R"("namespaces": ["nowhere", "red"])",
       false,
       {"nowhere", "red"},
       {"red"},
       {R"(namespace "nowhere" not found)"}},
      {"missing, named twice: one problem",
       R"("namespaces": ["nowhere", "nowhere"])",
       false,
       {"nowhere"},
       {},
       {R"(namespace "nowhere" not found)"}},
      {"problems in the order of the list",
       R"("namespaces": ["z", "dying", "a", "deleted"])",
       false,
       {"a", "deleted", "dying", "z"},
       {},
       {R"(namespace "z" not found)", R"(namespace "dying" is being deleted)",
        R"(namespace "a" not found)", R"(namespace "deleted" is being deleted)"}},
      {"selected; those that end are no problem, as nobody named them",
       R"("namespaceSelector": {"color": "red"})",
       false,
       {"deleted", "dying", "red"},
       {"red"},
       none},
      {"all requirements hold",
       R"("namespaceSelector": {"color": "red", "size": "big"})",
       false,
       {"red"},
       {"red"},
       none},
      {"nothing matches, which is not the cluster",
       R"("namespaceSelector": {"color": "green"})",
       false,
       {},
       {},
       none},
      {"an empty list and a selector",
       R"("namespaces": [], "namespaceSelector": {"color": "blue"})",
       false,
       {"blue"},
       {"blue"},
       none},
      {"matchExpressions",
       R"("namespaceSelector": {"matchExpressions": [{"key": "color", "operator": "NotIn",
                                                      "values": ["red"]}]})",
       false,
       {"blue", "plain"},
       {"blue", "plain"},
       none},
      {"an empty selector",
       R"("namespaceSelector": {})",
       false,
       {"blue", "deleted", "dying", "plain", "red"},
       {"blue", "plain", "red"},
       none},
      {"named and selected, together",
       R"("namespaces": ["plain", "red", "dying"], "namespaceSelector": {"color": "red"})",
       false,
       {"deleted", "dying", "plain", "red"},
       {"plain", "red"},
       {R"(namespace "dying" is being deleted)"}},
  };
  for (const auto& row : rows) {
    const auto target = ResolveTarget(DocumentInstance(row.spec), Namespaces());
    ASSERT_TRUE(target.invalid.ok()) << row.name << ": " << target.invalid;
    EXPECT_EQ(target.cluster, row.cluster) << row.name;
    EXPECT_EQ(target.usable, row.usable) << row.name;
    EXPECT_EQ(target.problems, row.problems) << row.name;
    for (const char* ns : {"red", "blue", "plain", "dying", "deleted", "nowhere", "z", "a"}) {
      EXPECT_EQ(target.MayContain(ns), row.namespaces.contains(ns)) << row.name << ": " << ns;
    }
    EXPECT_EQ(target.MayContain(""), row.cluster) << row.name;
  }
}

// An invalid selector selects unknown namespaces, but certainly not the whole cluster.
TEST(ResolveTargetTest, InvalidSelectorIsNotTheCluster) {
  for (const std::string_view selector :
       {R"(["color"])", R"("color")", R"({"color": 5})", R"({"matchLabels": "red"})",
        R"({"matchExpressions": [{"key": "color", "operator": "Like"}]})"}) {
    for (const std::string_view namespaces : {R"("namespaces": ["red"], )", ""}) {
      const auto instance =
          DocumentInstance(StrCat(namespaces, R"("namespaceSelector": )", selector));
      const Target target = ResolveTarget(instance, Namespaces());
      EXPECT_TRUE(absl::IsInvalidArgument(target.invalid)) << selector << target.invalid;
      EXPECT_TRUE(std::string(target.invalid.message()).starts_with("spec.namespaceSelector"));
      EXPECT_EQ(NamespaceSelector(instance).status(), target.invalid);
      EXPECT_FALSE(target.cluster) << selector;
      EXPECT_FALSE(target.MayContain("")) << selector;
      EXPECT_TRUE(target.MayContain("blue")) << selector;
    }
  }
}

// A selector may select a namespace that cannot be read. An existing binding in it stays, and no
// binding is created.
TEST(ResolveTargetTest, NamespacesThatCannotBeRead) {
  const absl::Status denied = absl::PermissionDeniedError("may not list namespaces");
  const struct {
    const char* spec;
    bool cluster, may_contain_others;
  } rows[] = {{"", true, false},
              {R"("namespaces": ["red"])", false, false},
              {R"("namespaceSelector": {"color": "red"})", false, true},
              {R"("namespaces": ["red"], "namespaceSelector": {"a": "b"})", false, true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.spec);
    const Target target = ResolveTarget(DocumentInstance(row.spec), {}, denied);
    EXPECT_EQ(target.cluster, row.cluster);
    EXPECT_EQ(target.MayContain(""), row.cluster);
    EXPECT_TRUE(target.usable.empty());
    EXPECT_EQ(target.MayContain("others"), row.may_contain_others);
    const bool names_red = std::string_view(row.spec).find("namespaces\"") != std::string::npos;
    EXPECT_EQ(target.MayContain("red"), names_red || row.may_contain_others);
    EXPECT_EQ(target.problems.empty(), row.cluster);
  }
}

TEST(ResolveTargetTest, ManyMissingNamespacesAreSummedUp) {
  std::string list = R"("red")";
  for (int i = 0; i < 10'000; ++i) StrAppend(&list, ",\"n", i, "\"");
  const Target target =
      ResolveTarget(DocumentInstance(StrCat(R"("namespaces": [)", list, "]")), Namespaces());
  EXPECT_EQ(target.usable, Names{"red"});
  ASSERT_EQ(target.problems.size(), 6u);
  EXPECT_EQ(target.problems[0], R"(namespace "n0" not found)");
  EXPECT_EQ(target.problems[5], "9995 more namespaces not found or being deleted");
  EXPECT_TRUE(target.MayContain("n9999"));
}

TEST(NamespaceSelectorTest, AbsentSelectorDiffersFromEmptyOne) {
  auto raw_null = DocumentInstance();
  raw_null.mutable_spec()->mutable_namespaceselector()->set_raw("null");
  for (const auto& instance :
       {DocumentInstance(), DocumentInstance(R"("namespaceSelector": null)"), raw_null}) {
    const auto selector = NamespaceSelector(instance);
    ASSERT_TRUE(selector.ok()) << selector.status();
    EXPECT_FALSE(selector->has_value()) << instance.ShortDebugString();
  }
  const auto empty = NamespaceSelector(DocumentInstance(R"("namespaceSelector": {})"));
  ASSERT_TRUE(empty.ok() && empty->has_value()) << empty.status();
  EXPECT_TRUE((*empty)->MatchesEverything());
  const auto one = NamespaceSelector(DocumentInstance(R"("namespaceSelector": {"a": "b"})"));
  ASSERT_TRUE(one.ok() && one->has_value()) << one.status();
  EXPECT_EQ((*one)->ToString(), "a=b");
}

}  // namespace
}  // namespace mandate::scope
