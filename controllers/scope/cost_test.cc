// The reads of events and reconciles: only the affected objects, and not all objects of a kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "controllers/scope/testing_fixture.h"

namespace mandate::scope {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class CostTest : public ScopedTest {
 protected:
  void SetUp() override {
    Begin(R"("namespaces": ["foo"])", kAnn);
    // The namespaces of its selector are not indexed.
    EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("any", R"("namespaceSelector":
                  {"matchExpressions": [{"key": "a", "operator": "Exists"}]})")),
              201);
    EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("one", R"("namespaceSelector":
                  {"matchLabels": {"b": "c"}})")),
              201);
    cluster_.Settle();
    cluster_.TakeLists();
  }
  void Label(const std::string& ns, const std::string& labels) {
    EXPECT_EQ(cluster_.Merge(kNamespaces, ns, R"({"metadata":{"labels":{)" + labels + "}}}"), 200);
    cluster_.Settle();
  }
};

TEST_F(CostTest, NoEventReadsAllObjectsOfAKind) {
  // The reconciles of this instance read all namespaces.
  EXPECT_EQ(cluster_.Delete(kInstances, "any"), 200);
  cluster_.Settle();
  cluster_.TakeLists();
  Label("bar", R"("d":"e")");
  Label("bar", R"("b":"c")");
  EXPECT_EQ(cluster_.Create(kNamespaces, NamespaceJson("new")), 201);
  EXPECT_EQ(cluster_.Delete(kNamespaces, "new"), 200);
  EXPECT_EQ(cluster_.Delete(kBindings, NameOf(cluster_.Our(kBindings, "foo")), "foo"), 200);
  EXPECT_EQ(cluster_.Merge(kRoles, NameOf(cluster_.Our(kRoles)), kEverything), 200);
  EXPECT_EQ(
      cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnnAndEve, "}}")),
      200);
  EditSpec(R"("namespaces": ["foo", "default"])");
  EXPECT_THAT(cluster_.Ours(kBindings), SizeIs(3));
  EXPECT_EQ(SubjectNames(cluster_.Our(kBindings, "foo")), "ann eve");
  EXPECT_EQ(cluster_.Delete(kInstances, "one"), 200);
  cluster_.Settle();
  EXPECT_EQ(cluster_.TakeLists(), 0);
}

// A label that the selector does not name causes no reconcile; a label that it names does.
TEST_F(CostTest, NamespaceEventReconcilesMatchingSelectors) {
  Label("bar", R"("d":"e")");
  EXPECT_EQ(cluster_.Create(kNamespaces, NamespaceJson("new", R"("d": "e")")), 201);
  cluster_.Settle();
  EXPECT_EQ(cluster_.TakeLists(), 0);
  Label("bar", R"("a":"b")");
  EXPECT_THAT(cluster_.Ours(kBindings, "bar"), SizeIs(1));
  Label("bar", R"("a":null)");
  EXPECT_THAT(cluster_.Ours(kBindings, "bar"), IsEmpty());
}

TEST_F(CostTest, ManyNamesAreLookedUp) {
  std::string names = R"("foo", "bar")";
  for (int i = 0; i < 200; ++i) StrAppend(&names, ", \"n", i, "\"");
  EditSpec(StrCat(R"("namespaces": [)", names, "]"));
  EXPECT_THAT(cluster_.Ours(kBindings), SizeIs(2));
  EXPECT_EQ(cluster_.TakeLists(), 0);
}

}  // namespace
}  // namespace mandate::scope
