// A test fixture: the document's template and an instance of it, reconciled on a ScopeCluster.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/scope/testing_cluster.h"
#include "controllers/scope/testing_json.h"

namespace mandate::scope {

inline constexpr char kSuccess[] =
    "True ScopingSuccessful: ScopeInstance \"foo\" reconciled successfully";
inline constexpr char kTemplatedSuccess[] =
    "True TemplatingSuccessful: ScopeTemplate \"foo\" successfully reconciled";

// A response for ScopeCluster::intercept.
inline HttpResponse Denial(int code, std::optional<absl::Duration> retry_after = std::nullopt) {
  HttpResponse denial;
  denial.code = code;
  denial.retry_after = retry_after;
  return denial;
}

class ScopedTest : public testing::Test {
 protected:
  explicit ScopedTest(InstanceOptions instance_options = {}, TemplateOptions template_options = {})
      : cluster_(instance_options, template_options) {}

  // Creates the template "foo" and its instance "foo" with this rest of a spec.
  void Begin(std::string_view spec, std::string_view roles = kDocumentRoles) {
    EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("foo", roles)), 201);
    EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("foo", spec)), 201);
    cluster_.Start();
    cluster_.Settle();
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
  }

  // Patches these members of the spec of the instance "foo".
  void EditSpec(const std::string& spec) {
    EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{)" + spec + "}}"), 200);
    cluster_.Settle();
  }
  void ExpectConvergedAndQuiet() {
    EXPECT_EQ(cluster_.Scoped(), kSuccess);
    EXPECT_EQ(cluster_.Templated(), kTemplatedSuccess);
    cluster_.TakeWrites();
    cluster_.RunFor(absl::Minutes(30));
    EXPECT_EQ(cluster_.TakeWrites(), std::vector<std::string>());
  }

  ScopeCluster cluster_;
};

}  // namespace mandate::scope
