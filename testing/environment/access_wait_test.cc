#include "testing/environment/access_wait.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "testing/environment/administrator_fixture.h"

namespace mandate {
namespace {

class AccessWaitTest : public AdministratorTest {
 protected:
  static ExpectedAccess Get(const std::string& resource, bool allowed) {
    return {{"shop", {.verbs = {"get"}, .api_groups = {""}, .resources = {resource}}}, allowed};
  }
  absl::Status Await(const std::vector<ExpectedAccess>& expected,
                     absl::Duration patience = absl::Seconds(30)) {
    return AwaitAccess(*administrator_, patience, "nobody", expected);
  }
};

TEST_F(AccessWaitTest, EndsWhenEachAnswerIsAsExpected) {
  EXPECT_EQ(Await({}), absl::OkStatus());
  EXPECT_EQ(Await({Get("pods", false), Get("secrets", false)}), absl::OkStatus());
  for (const auto& expected : {std::vector{Get("pods", false), Get("secrets", true)},
                               std::vector{Get("secrets", true), Get("pods", false)}}) {
    const absl::Status late = Await(expected, absl::Milliseconds(200));
    EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
    EXPECT_NE(late.message().find("does not let nobody get secrets in namespace"),
              absl::string_view::npos)
        << late;
  }
}

}  // namespace
}  // namespace mandate
