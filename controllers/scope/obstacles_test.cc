// What a server that denies, fails or delays some writes does to the rest, and when it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "controllers/scope/testing_cluster.h"
#include "controllers/scope/testing_json.h"
#include "testing/apiserver/errors.h"

namespace mandate::scope {
namespace {

using testing::IsEmpty;
using testing::StartsWith;

constexpr char kSuccess[] = "True ScopingSuccessful: ScopeInstance \"foo\" reconciled successfully";

class ObstaclesTest : public testing::Test {
 protected:
  void Begin(std::string_view spec, std::string_view roles = kDocumentRoles) {
    EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", roles)), 201);
    EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", spec)), 201);
    cluster_.Start();
    cluster_.Settle();
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
  }

  ScopeCluster cluster_;
};

// A ValidatingAdmissionPolicy denies with 422 unless it says otherwise. No event reports that it
// has gone.
TEST_F(ObstaclesTest, WhatAdmissionDeniedForHoursIsDoneAMinuteAfterItsEnd) {
  Begin(R"("namespaces": ["foo", "bar"])");
  for (const char* verb : {"delete", "patch"}) {
    for (const char* resource : {"rolebindings", "clusterroles"}) {
      cluster_.faults().Add({.verb = verb,
                             .resource = resource,
                             .fault = {.refuse = apiserver::ApiErrorOf(422, "Invalid", "policy")}});
    }
  }
  EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["bar"]}})"), 200);
  EXPECT_EQ(
      cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kEmptyRoles, "}}")),
      200);
  cluster_.RunFor(absl::Hours(3));
  EXPECT_THAT(cluster_.Scoped(), StartsWith("False "));
  EXPECT_THAT(cluster_.Templated(), StartsWith("False TemplatingFailed"));
  cluster_.TakeWrites();
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_LE(cluster_.TakeWrites().size(), 100u);
  cluster_.faults().Clear();
  cluster_.RunFor(absl::Seconds(65));
  EXPECT_THAT(cluster_.Ours(kBindings, "foo"), IsEmpty());
  EXPECT_THAT(cluster_.Our(kRoles)["rules"], IsEmpty());
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

// A webhook chooses its code: only the object's absence proves that it is gone.
TEST_F(ObstaclesTest, ADeletionThatWasAnsweredByAWebhookIsNotDone) {
  Begin(R"("namespaces": ["foo", "bar"])");
  for (const int code : {409, 404}) {
    SCOPED_TRACE(code);
    const std::string_view reason = code == 409 ? "Conflict" : "NotFound";
    cluster_.faults().Add(
        {.verb = "delete",
         .resource = "rolebindings",
         .fault = {.refuse = apiserver::ApiErrorOf(code, reason, "admission webhook: no")}});
    EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["bar"]}})"), 200);
    cluster_.Settle();
    EXPECT_EQ(cluster_.Ours(kBindings, "foo").size(), 1u);
    EXPECT_THAT(cluster_.Scoped(), StartsWith("False ScopingFailed"));
    cluster_.faults().Clear();
    cluster_.RunFor(absl::Seconds(65));
    EXPECT_THAT(cluster_.Ours(kBindings, "foo"), IsEmpty());
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
    EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["bar","foo"]}})"), 200);
    cluster_.Settle();
  }
}

}  // namespace
}  // namespace mandate::scope
