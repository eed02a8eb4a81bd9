#include "controllers/memcached/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "controllers/memcached/deployment.h"
#include "controllers/memcached/testing_objects.h"
#include "manager/core/strings.h"

namespace mandate::memcached {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const absl::Status kDenied = absl::PermissionDeniedError("User \"x\" cannot list resource");
const absl::Status kTooLarge =
    absl::ResourceExhaustedError("the watches of memcached hold 5 bytes");

// "Succeeded: …", as the status has it.
std::string StateOf(const Snapshot& snapshot, const absl::Status& written = absl::OkStatus()) {
  const auto status = MakeStatus(snapshot, FindProblem(snapshot, MakePlan(snapshot), written));
  return StrCat(status.state().status(), ": ", status.state().message());
}

appsv1::Deployment DeploymentWith(const std::function<void(appsv1::Deployment&)>& change) {
  appsv1::Deployment deployment = MakeDeployment(Sample());
  change(deployment);
  return deployment;
}

TEST(PlanTest, Rows) {
  const auto nothing = [](auto&) {};
  struct Row {
    const char* what;
    Snapshot snapshot;
    bool writes;
    absl::Status written;
    const char* state;
  };
  const Row rows[] = {
      {"absent",
       {Sample()},
       true,
       {},
       "Succeeded: Deployment memcached-sample-denied successfully created"},
      {"as desired",
       {Sample(), DeploymentWith(nothing)},
       false,
       {},
       "Succeeded: Deployment memcached-sample-denied successfully created"},
      {"another size",
       {Sample(2), DeploymentWith(nothing)},
       true,
       {},
       "Succeeded: Deployment memcached-sample-denied successfully created"},
      {"Deployments are denied",
       {Sample(), kDenied, kDenied},
       false,
       {},
       "Failed: Not permitted to get Deployment: deployments.apps \"memcached-sample-denied\" is "
       "forbidden: Not permitted based on RBAC"},
      {"only Deployments are denied",
       {Sample(), kDenied},
       false,
       {},
       "Failed: Not permitted to get Deployment: deployments.apps \"memcached-sample-denied\" is "
       "forbidden: Not permitted based on RBAC"},
      {"Pods are denied",
       {Sample(), std::nullopt, kDenied},
       true,
       {},
       "Failed: Not permitted to list pods: pods is forbidden: Not permitted based on RBAC"},
      {"Deployments are too large",
       {Sample(), kTooLarge, kTooLarge},
       false,
       {},
       "Failed: Failed to get Deployment: the Deployments of the namespace are larger than the "
       "memory that is left for them; delete some, or ask for a larger --max-watch-size"},
      {"Pods are too large",
       {Sample(), std::nullopt, kTooLarge},
       true,
       {},
       "Failed: Failed to list pods: the Pods of the namespace are larger than the memory that is "
       "left for them; delete some, or ask for a larger --max-watch-size"},
      {"create is denied",
       {Sample()},
       true,
       kDenied,
       "Failed: Not permitted to create new Deployment: deployments.apps "
       "\"memcached-sample-denied\" is forbidden: Not permitted based on RBAC"},
      {"patch is denied",
       {Sample(2), DeploymentWith(nothing)},
       true,
       kDenied,
       "Failed: Not permitted to update Deployment: deployments.apps \"memcached-sample-denied\" "
       "is forbidden: Not permitted based on RBAC"},
      {"create fails",
       {Sample()},
       true,
       absl::InternalError("etcd is full"),
       "Failed: Failed to create new Deployment: etcd is full"},
      {"patch fails",
       {Sample(2), DeploymentWith(nothing)},
       true,
       absl::InternalError("etcd is full"),
       "Failed: Failed to update Deployment: etcd is full"},
      {"a quota denies it",
       {Sample(), std::nullopt, Pods({})},
       true,
       absl::PermissionDeniedError("deployments.apps \"a\" is forbidden: exceeded quota: q"),
       "Failed: Not permitted to create new Deployment: deployments.apps \"a\" is forbidden: "
       "exceeded quota: q"},
      {"a foreign Deployment",
       {Sample(), DeploymentWith([](auto& d) { d.mutable_metadata()->clear_ownerreferences(); })},
       false,
       {},
       "Failed: The name of the Deployment is taken: Deployment \"memcached-sample-denied\" does "
       "not belong to this Memcached and is not changed; delete it, or choose another name"},
      {"the Deployment of an earlier Memcached of that name",
       {Sample(), DeploymentWith([](auto& d) {
          d.mutable_metadata()->mutable_ownerreferences(0)->set_uid("uid-0");
        })},
       false,
       {},
       "Failed: The name of the Deployment is taken: Deployment \"memcached-sample-denied\" does "
       "not belong to this Memcached and is not changed; delete it, or choose another name"},
      {"the Deployment is being deleted",
       {Sample(), DeploymentWith([](auto& d) {
          d.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1);
        })},
       false,
       {},
       "Failed: The Deployment is being deleted: a new one follows"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(MakePlan(row.snapshot).write.has_value(), row.writes) << row.what;
    EXPECT_EQ(StateOf(row.snapshot, row.written), row.state) << row.what;
  }
}

TEST(PlanTest, ANameThatCannotBeALabelIsReported) {
  Snapshot snapshot{Sample()};
  snapshot.memcached.mutable_metadata()->set_name(std::string(54, 'x'));
  EXPECT_FALSE(MakePlan(snapshot).write.has_value());
  EXPECT_THAT(StateOf(snapshot), HasSubstr("Failed: The name cannot be a label: metadata.name"));
}

// The Deployments of others have other labels than the demanded ones.
TEST(PlanTest, OnlyTheEndOfATakenNameIsUnseen) {
  const auto is_unseen = [](Snapshot snapshot) {
    const Plan plan = MakePlan(snapshot);
    EXPECT_TRUE(plan.problem.has_value());
    return plan.ends_unseen;
  };
  const auto foreign =
      DeploymentWith([](auto& d) { d.mutable_metadata()->clear_ownerreferences(); });
  const auto ending = DeploymentWith(
      [](auto& d) { d.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1); });
  Snapshot unnamable{Sample()};
  unnamable.memcached.mutable_metadata()->set_name(std::string(54, 'x'));
  EXPECT_TRUE(is_unseen({Sample(), foreign}));
  EXPECT_FALSE(is_unseen({Sample(), ending}));
  EXPECT_FALSE(is_unseen({Sample(), kDenied}));
  EXPECT_FALSE(is_unseen(unnamable));
}

TEST(PlanTest, NodesAreTheNamesOfThePodsInOrder) {
  const Snapshot snapshot{Sample(2), std::nullopt, Pods({"b", "a"})};
  EXPECT_THAT(MakeStatus(snapshot, std::nullopt).nodes(), ElementsAre("a", "b"));
}

// The document's step 9: "the Status.Nodes field is still populated".
TEST(PlanTest, NodesStayWhenAnythingFails) {
  Snapshot snapshot{Sample(), kDenied, Pods({"new"})};
  snapshot.memcached.mutable_status()->add_nodes("old");
  EXPECT_THAT(MakeStatus(snapshot, MakePlan(snapshot).problem).nodes(), ElementsAre("old"));
}

TEST(PlanTest, StatusesDifferByEachField) {
  const Snapshot snapshot{Sample(), std::nullopt, Pods({"a"})};
  const auto status = MakeStatus(snapshot, std::nullopt);
  EXPECT_TRUE(IsSame(status, MakeStatus(snapshot, std::nullopt)));
  EXPECT_FALSE(IsSame(status, {}));
  auto other = status;
  other.clear_nodes();
  EXPECT_FALSE(IsSame(status, other));
  other = status;
  other.mutable_state()->set_message("");
  EXPECT_FALSE(IsSame(status, other));
}

}  // namespace
}  // namespace mandate::memcached
