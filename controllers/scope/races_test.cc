// Changes between a read and a write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_fixture.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr char kStay[] = R"({"metadata":{"finalizers":["evil.example.com/stay"]}})";

class RacesTest : public ScopedTest {
 protected:
  // Another user replaces the object of this name just before the component's deletion arrives.
  void ReplaceAtDeletion(const Resource& resource, const std::string& deletion,
                         Json::Value object) {
    const std::string name = NameOf(object), ns = object["metadata"]["namespace"].asString();
    object["metadata"] = Json::objectValue;
    object["metadata"]["name"] = name;
    if (!ns.empty()) object["metadata"]["namespace"] = ns;
    cluster_.intercept = [this, resource, deletion, object, name,
                          ns](const std::string& write) -> std::optional<HttpResponse> {
      if (write != deletion || replaced_) return std::nullopt;
      replaced_ = true;
      EXPECT_EQ(cluster_.Delete(resource, name, ns), 200);
      EXPECT_EQ(cluster_.Create(resource, object), 201);
      return std::nullopt;
    };
  }

  // Another user adds a finalizer to the object just before the component's write arrives, and also
  // deletes it if `deleted`. Stores the result of `report` when such an object is written again.
  void HoldAt(const std::string& write, const Resource& resource, const Json::Value& object,
              const std::function<std::string()>& report, bool deleted = false) {
    const std::string name = NameOf(object), ns = object["metadata"]["namespace"].asString();
    held_ = false;
    cluster_.intercept = [this, write, resource, name, ns, report,
                          deleted](const std::string& sent) -> std::optional<HttpResponse> {
      if (held_) {
        const std::string plural(resource.plural);
        const bool again = sent.ends_with(plural) || sent.find(plural + " ") != std::string::npos;
        if (again && reported_.empty()) reported_ = report();
        return std::nullopt;
      }
      if (sent != write) return std::nullopt;
      held_ = true;
      reported_ = "";
      EXPECT_EQ(cluster_.Merge(resource, name, kStay, ns), 200);
      if (deleted) {
        EXPECT_EQ(cluster_.Delete(resource, name, ns), 200);
      }
      return std::nullopt;
    };
  }
  // Another user replaces our binding by one of another role. Returns its name.
  std::string BindAnotherRole() {
    Json::Value binding = cluster_.Our(kBindings);
    for (const char* field : {"uid", "resourceVersion", "creationTimestamp", "managedFields"}) {
      binding["metadata"].removeMember(field);
    }
    binding["roleRef"]["name"] = "system:discovery";
    EXPECT_EQ(cluster_.Delete(kBindings, NameOf(binding), "foo"), 200);
    EXPECT_EQ(cluster_.Create(kBindings, binding), 201);
    return NameOf(binding);
  }
  // From now on the components see one change of the resource every two seconds.
  void SlowWatchesOf(const Resource& resource) {
    cluster_.Stop();
    cluster_.faults().Add({.verb = "watch",
                           .resource = std::string(resource.plural),
                           .fault = {.frame_delay = absl::Seconds(2)}});
    cluster_.Start();
    cluster_.RunFor(absl::Minutes(10));
  }
  // Runs until the component has reported the response, but has not yet seen the change.
  void RunUntilReported() {
    EXPECT_TRUE(cluster_.loop().RunUntil([this] { return held_; }));
    cluster_.RunFor(absl::Seconds(1));
  }

  bool replaced_ = false;
  bool held_ = false;
  std::string reported_;
};

// The server accepts the deletion, but the object stays.
TEST_F(RacesTest, ConcurrentFinalizerOnBindingIsNotSuccess) {
  for (const bool in_cluster : {false, true}) {
    SCOPED_TRACE(in_cluster);
    if (in_cluster) {
      EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("other", "")), 201);
      cluster_.Settle();
    } else {
      Begin(R"("namespaces": ["foo", "bar"])");
    }
    const char* instance = in_cluster ? "other" : "foo";
    const Resource kind = in_cluster ? kClusterBindings : kBindings;
    const Json::Value binding = cluster_.Our(kind, in_cluster ? "" : "foo");
    HoldAt(in_cluster ? "DELETE clusterrolebindings" : "DELETE rolebindings foo", kind, binding,
           [this, instance] { return cluster_.Scoped(instance); });
    EXPECT_EQ(cluster_.Merge(kInstances, instance, R"({"spec":{"namespaces":["bar"]}})"), 200);
    cluster_.Settle();
    EXPECT_THAT(reported_, AllOf(StartsWith("False RevocationPending"), HasSubstr(NameOf(binding)),
                                 HasSubstr("just added")));
    EXPECT_THAT(cluster_.Scoped(instance),
                AllOf(StartsWith("False RevocationPending"),
                      HasSubstr("finalizers evil.example.com/stay block its deletion")));
  }
}

TEST_F(RacesTest, ConcurrentFinalizerOnRoleIsNotSuccess) {
  Begin(R"("namespaces": ["foo"])");
  const Json::Value role = cluster_.Our(kRoles);
  HoldAt("DELETE clusterroles", kRoles, role, [this] { return cluster_.Templated(); });
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  cluster_.Settle();
  EXPECT_THAT(reported_, AllOf(StartsWith("False RevocationPending"), HasSubstr(NameOf(role)),
                               HasSubstr("just added")));
  EXPECT_THAT(cluster_.Templated(),
              AllOf(StartsWith("False RevocationPending"),
                    HasSubstr("finalizers evil.example.com/stay block its deletion")));
}

// The objects are wanted, and the component has just fixed them.
TEST_F(RacesTest, ConcurrentDeletionOfBindingIsNotSuccess) {
  Begin(R"("namespaces": ["foo"])");
  SlowWatchesOf(kBindings);
  const Json::Value binding = cluster_.Our(kBindings);
  HoldAt(
      "PATCH rolebindings foo", kBindings, binding, [] { return ""; }, /*deleted=*/true);
  EXPECT_EQ(cluster_.Merge(kBindings, NameOf(binding), R"({"metadata":{"labels":null}})", "foo"),
            200);
  RunUntilReported();
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False RevocationPending"));
}

TEST_F(RacesTest, ConcurrentDeletionOfRoleIsNotSuccess) {
  Begin(R"("namespaces": ["foo"])");
  SlowWatchesOf(kRoles);
  const Json::Value role = cluster_.Our(kRoles);
  HoldAt(
      "PATCH clusterroles", kRoles, role, [] { return ""; }, /*deleted=*/true);
  EXPECT_EQ(cluster_.Merge(kRoles, NameOf(role), R"({"rules":null})"), 200);
  RunUntilReported();
  EXPECT_THAT(cluster_.Templated(), StartsWith("False "));
}

// A deletion applies only to the object that was read.
TEST_F(RacesTest, ReplacedBindingIsNotDeleted) {
  Begin(R"("namespaces": ["foo", "bar"])");
  const Json::Value binding = cluster_.Our(kBindings, "foo");
  ReplaceAtDeletion(kBindings, "DELETE rolebindings foo", binding);
  EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["bar"]}})"), 200);
  cluster_.Settle();
  EXPECT_TRUE(replaced_);
  EXPECT_FALSE(cluster_.Get(kBindings, NameOf(binding), "foo").isNull());
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False RevocationPending"));
}

TEST_F(RacesTest, ReplacedRoleIsNotDeleted) {
  Begin(R"("namespaces": ["foo"])");
  const Json::Value role = cluster_.Our(kRoles);
  ReplaceAtDeletion(kRoles, "DELETE clusterroles", role);
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  cluster_.Settle();
  EXPECT_TRUE(replaced_);
  EXPECT_FALSE(cluster_.Get(kRoles, NameOf(role)).isNull());
}

// The instance was deleted, and its bindings were orphaned just before our deletion of them.
TEST_F(RacesTest, OrphanedBindingIsNotDeleted) {
  Begin(R"("namespaces": ["foo"])");
  const std::string name = NameOf(cluster_.Our(kBindings));
  bool orphaned = false;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "DELETE rolebindings foo" || orphaned) return std::nullopt;
    orphaned = true;
    EXPECT_EQ(cluster_.Merge(kBindings, name, R"({"metadata":{"ownerReferences":null}})", "foo"),
              200);
    return std::nullopt;
  };
  // Slow watches make our deletion come first; otherwise garbage collection would.
  cluster_.faults().Add(
      {.verb = "watch", .resource = "rolebindings", .fault = {.frame_delay = absl::Seconds(1)}});
  EXPECT_EQ(cluster_.Delete(kInstances, "foo", "", kOrphaning), 200);
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_FALSE(cluster_.Get(kBindings, name, "foo").isNull());
}

// The same for a role whose template has a finalizer.
TEST_F(RacesTest, OrphanedRoleIsNotDeleted) {
  Begin(R"("namespaces": ["foo"])");
  const std::string name = NameOf(cluster_.Our(kRoles));
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo", kStay), 200);
  EXPECT_EQ(cluster_.Delete(kTemplates, "foo"), 200);
  cluster_.Settle();
  bool orphaned = false;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "DELETE clusterroles" || orphaned) return std::nullopt;
    orphaned = true;
    EXPECT_EQ(cluster_.Merge(kRoles, name, R"({"metadata":{"ownerReferences":null}})"), 200);
    return std::nullopt;
  };
  EXPECT_EQ(cluster_.Delete(kInstances, "foo"), 200);
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_TRUE(orphaned);
  EXPECT_FALSE(cluster_.Get(kRoles, name).isNull());
}

// Repeated changes do not prevent the deletion of the binding.
TEST_F(RacesTest, ChangingBindingToAnotherRoleIsReplaced) {
  Begin(R"("namespaces": ["foo"])");
  const Json::Value role_ref = cluster_.Our(kBindings)["roleRef"];
  cluster_.Stop();
  const std::string name = BindAnotherRole();
  int changes = 0;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "DELETE rolebindings foo") return std::nullopt;
    const std::string patch = StrCat(R"({"metadata":{"annotations":{"n":")", ++changes, R"("}}})");
    EXPECT_EQ(cluster_.Merge(kBindings, name, patch, "foo"), 200);
    return std::nullopt;
  };
  cluster_.Start();
  cluster_.Settle();
  EXPECT_EQ(cluster_.Our(kBindings)["roleRef"], role_ref);
  EXPECT_EQ(changes, 1);
}

TEST_F(RacesTest, BindingToAnotherRoleIsCreatedAgain) {
  Begin(R"("namespaces": ["foo"])");
  const Json::Value role_ref = cluster_.Our(kBindings)["roleRef"];
  for (const bool held_before : {false, true}) {
    SCOPED_TRACE(held_before);
    cluster_.Stop();
    const std::string name = BindAnotherRole();
    if (held_before) {
      EXPECT_EQ(cluster_.Merge(kBindings, name, kStay, "foo"), 200);
    } else {
      HoldAt("DELETE rolebindings foo", kBindings, cluster_.Our(kBindings),
             [this] { return cluster_.Scoped(); });
    }
    cluster_.TakeWrites();
    cluster_.Start();
    cluster_.Settle();
    const std::vector<std::string> writes = cluster_.TakeWrites();
    EXPECT_EQ(std::ranges::count(writes, "PATCH rolebindings foo"), 2) << "it is emptied";
    EXPECT_THAT(cluster_.Scoped(),
                AllOf(StartsWith("False RevocationPending"), Not(HasSubstr("already exists"))));
    if (!held_before) {
      EXPECT_THAT(reported_, AllOf(StartsWith("False RevocationPending"), HasSubstr(name),
                                   Not(HasSubstr("already exists"))));
    }
    EXPECT_TRUE(cluster_.Our(kBindings)["subjects"].empty());
    cluster_.intercept = nullptr;
    EXPECT_EQ(cluster_.Merge(kBindings, name, R"({"metadata":{"finalizers":null}})", "foo"), 200);
    cluster_.Settle();
    EXPECT_EQ(cluster_.Our(kBindings)["roleRef"], role_ref);
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
  }
}

// Twenty roles.
std::string ManyRoles(std::string_view resource) {
  std::string all;
  for (int i = 0; i < 20; ++i) {
    StrAppend(&all, i == 0 ? "[" : ",", R"({"generateName":"r)", i,
              R"(-","rules":[{"apiGroups":[""],"verbs":["get"],"resources":[")", resource,
              R"("]}],"subjects":[{"kind":"User","name":"ann"}]})");
  }
  return all + "]";
}

// A plan of many writes stops when its instance or template is edited: its later grants may
// be unwanted by then.
TEST_F(RacesTest, EditEndsTheCurrentWrites) {
  const auto edit_roles = [this](const std::string& all) {
    return cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", all, "}}"));
  };
  Begin(R"("namespaces": ["foo"])", ManyRoles("pods"));
  const auto edit_namespaces = [this](const std::string& all) {
    return cluster_.Merge(kInstances, "foo", StrCat(R"({"spec":{"namespaces":)", all, "}}"));
  };
  const struct {
    const char* name;
    std::string write;
    std::function<int()> begin, edit;
  } rows[] = {
      {"bindings, and their instance", "PATCH rolebindings bar",
       [&] { return edit_namespaces(R"(["foo","bar"])"); },
       [&] { return edit_namespaces(R"(["foo"])"); }},
      {"bindings, and their template", "PATCH rolebindings bar",
       [&] { return edit_namespaces(R"(["foo","bar"])"); },
       [&] { return edit_roles(std::string(kAnn)); }},
      {"roles", "PATCH clusterroles", [&] { return edit_roles(ManyRoles("nodes")); },
       [&] { return edit_roles(std::string(kAnn)); }},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    int writes = 0;
    cluster_.intercept = [&](const std::string& sent) -> std::optional<HttpResponse> {
      if (sent == row.write && ++writes == 3) {
        EXPECT_EQ(row.edit(), 200);
      }
      return std::nullopt;
    };
    EXPECT_EQ(row.begin(), 200);
    cluster_.RunFor(absl::Minutes(1));
    EXPECT_GE(writes, 3);
    EXPECT_LE(writes, 6) << "of twenty";
    cluster_.intercept = nullptr;
    ExpectConvergedAndQuiet();
  }
}

// Otherwise a user who can annotate the object could delay its revocations.
TEST_F(RacesTest, AnnotationDoesNotEndWrites) {
  Begin(R"("namespaces": ["foo"])", ManyRoles("pods"));
  int writes = 0;
  cluster_.intercept = [&](const std::string& sent) -> std::optional<HttpResponse> {
    if (sent != "PATCH rolebindings bar" && sent != "PATCH clusterroles") return std::nullopt;
    const std::string patch = StrCat(R"({"metadata":{"annotations":{"n":")", ++writes, R"("}}})");
    EXPECT_EQ(cluster_.Merge(kInstances, "foo", patch), 200);
    EXPECT_EQ(cluster_.Merge(kTemplates, "foo", patch), 200);
    return std::nullopt;
  };
  EditSpec(R"("namespaces": ["foo", "bar"])");
  EXPECT_EQ(writes, 20);
  EXPECT_EQ(cluster_.Merge(kTemplates, "foo",
                           StrCat(R"({"spec":{"clusterRoles":)", ManyRoles("nodes"), "}}")),
            200);
  cluster_.Settle();
  EXPECT_EQ(writes, 40);
  for (const char* component : {"scope-instance", "scope-template"}) {
    EXPECT_LE(cluster_.metrics()
                  .Counter("mandate_scope_portions_total", "", {{"identity", component}})
                  .Value(),
              2)
        << component << ": twenty writes take two portions, at first and after the edit";
  }
  cluster_.intercept = nullptr;
  ExpectConvergedAndQuiet();
}

}  // namespace
}  // namespace mandate::scope
