#include "testing/apiserver/upkeep.h"

#include <gtest/gtest.h>

#include <string>

#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"

namespace mandate::apiserver {
namespace {

const GroupResource kMaps{"", "configmaps"};
const GroupResource kNamespaces{"", "namespaces"};

class UpkeepTest : public ::testing::Test {
 protected:
  // `more`: additional members of the metadata, each after a comma.
  void Put(const std::string& ns, const std::string& name, const std::string& more = "") {
    const auto object =
        ParseJson(StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":")", ns,
                         R"(","name":")", name, R"(","uid":"uid-)", name, "\"", more, "}}"));
    ASSERT_TRUE(object.ok()) << object.status();
    core_.store.Put(kMaps, *object);
  }
  void PutNamespace(const std::string& name, const std::string& more) {
    const auto object =
        ParseJson(StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", name,
                         R"(","uid":"uid-)", name, "\"", more, "}}"));
    ASSERT_TRUE(object.ok()) << object.status();
    core_.store.Put(kNamespaces, *object);
  }
  static std::string Owners(std::initializer_list<const char*> names) {
    std::string text;
    for (const char* name : names) {
      StrAppend(&text, text.empty() ? "" : ",", R"({"apiVersion":"v1","kind":"ConfigMap","name":")",
                name, R"(","uid":"uid-)", name, "\"}");
    }
    return StrCat(R"(,"ownerReferences":[)", text, "]");
  }
  // All objects: "name", or "name*" if it is being deleted.
  std::string Left() {
    loop_.RunReady();
    std::string text;
    for (const auto& object : core_.store.List(kMaps)) {
      StrAppend(&text, text.empty() ? "" : " ", object->name, object->deleting ? "*" : "");
    }
    return text;
  }

  SimulatedLoop loop_;
  Core core_{loop_, 1, {}};
  Upkeep upkeep_{core_};
};

constexpr char kDeleting[] = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";

TEST_F(UpkeepTest, DependentsAreDeletedWithTheirLastOwner) {
  Put("n", "a");
  Put("n", "b");
  Put("n", "of-a", Owners({"a"}));
  Put("n", "of-both", Owners({"a", "b"}));
  Put("n", "of-of-a", Owners({"of-a"}));
  Put("n", "held", Owners({"a"}) + R"(,"finalizers":["x.io/y"])");
  ASSERT_EQ(Left(), "a b held of-a of-both of-of-a") << "their owners were looked up";
  core_.store.Delete(kMaps, "n", "a");
  EXPECT_EQ(Left(), "b held* of-both");
  EXPECT_EQ(core_.store.Get(kMaps, "n", "of-both")->Parse()["metadata"]["ownerReferences"].size(),
            1u);
  core_.store.Delete(kMaps, "n", "b");
  EXPECT_EQ(Left(), "held*");
}

TEST_F(UpkeepTest, DependentsCreatedAfterTheirOwnerAreDeleted) {
  Put("n", "of-gone", Owners({"gone"}));
  EXPECT_EQ(Left(), "");
  Put("n", "a");
  Put("n", "of-a-and-gone", Owners({"a", "gone"}));
  EXPECT_EQ(Left(), "a of-a-and-gone");
  const Json::Value left = core_.store.Get(kMaps, "n", "of-a-and-gone")->Parse();
  EXPECT_EQ(left["metadata"]["ownerReferences"].size(), 1u);
}

TEST_F(UpkeepTest, OwnerOfAnUnknownKindKeepsItsDependents) {
  Put("n", "of-widget",
      R"(,"ownerReferences":[{"apiVersion":"x.io/v1","kind":"Widget","name":"w","uid":"u"}])");
  EXPECT_EQ(Left(), "of-widget");
}

TEST_F(UpkeepTest, ClusterScopedDependentsOfANamespacedOwnerAreKept) {
  PutNamespace("n", Owners({"gone"}));
  EXPECT_EQ(Left(), "");
  EXPECT_NE(core_.store.Get(kNamespaces, "", "n"), nullptr);
}

TEST_F(UpkeepTest, OrphansAreKept) {
  Put("n", "of-a", Owners({"a"}));
  Put("n", "a", StrCat(kDeleting, R"(,"finalizers":["orphan"])"));
  EXPECT_EQ(Left(), "of-a");
  EXPECT_FALSE(core_.store.Get(kMaps, "n", "of-a")->owned);
}

TEST_F(UpkeepTest, ForegroundDeletesDependentsFirst) {
  Put("n", "of-a", Owners({"a"}));
  Put("n", "a", StrCat(kDeleting, R"(,"finalizers":["foregroundDeletion","x.io/y"])"));
  EXPECT_EQ(Left(), "a*") << "another finalizer holds the owner";
  const Json::Value a = core_.store.Get(kMaps, "n", "a")->Parse();
  EXPECT_EQ(WriteJson(a["metadata"]["finalizers"]), R"(["x.io/y"])");
}

TEST_F(UpkeepTest, DeletedNamespaceIsEmptiedFirst) {
  Put("n", "free");
  Put("n", "held", R"(,"finalizers":["x.io/y"])");
  Put("m", "elsewhere");
  PutNamespace("n", kDeleting);
  EXPECT_EQ(Left(), "elsewhere held*");
  EXPECT_NE(core_.store.Get(kNamespaces, "", "n"), nullptr) << "not before it is empty";
  core_.store.Delete(kMaps, "n", "held");
  EXPECT_EQ(Left(), "elsewhere");
  EXPECT_EQ(core_.store.Get(kNamespaces, "", "n"), nullptr);
}

}  // namespace
}  // namespace mandate::apiserver
