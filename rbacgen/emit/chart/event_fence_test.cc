#include "rbacgen/emit/chart/event_fence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mandate::rbacgen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

// hack/chart_test tests the policy on an API server.
TEST(EventFenceTest, ChecksTheReportingControllerBeforeAndAfterAWrite) {
  const ChartNames names = {.base = "mm"};
  const ChartSettings settings;
  const ChartSwitches switches(settings);
  std::vector<Yaml> objects;
  ObjectMaker maker(names, switches, "a", "mm-a", &objects);
  AddEventFence(maker);
  ASSERT_THAT(objects, SizeIs(2));
  EXPECT_EQ(objects[0]["metadata"]["name"].text(), "mm-a-events");
  EXPECT_THAT(objects[0]["spec"].Write(),
              AllOf(HasSubstr("- expression: object.?reportingController.orValue(\"\") == \"a\""),
                    HasSubstr("|| oldObject.?reportingController.orValue(\"\")"),
                    HasSubstr("- CREATE\n    - UPDATE\n"), HasSubstr("failurePolicy: Fail")));
}

}  // namespace
}  // namespace mandate::rbacgen
