// Which changes of a demand are requests for its owners.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "manager/controller/demand_set.h"
#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

using testing::ElementsAre;

class DemandSetRequestsTest : public ControllerTest {
 protected:
  DemandSetRequestsTest() {
    demands_.Connect("scope", [this](const std::vector<Request>& requests) {
      for (const Request& request : requests) names_.push_back(request.key.name);
    });
  }

  const DemandSpec roles_ = {kRole, "foo", ""};
  DemandSet demands_{Runtime()};
};

// They are known when the demand is synced: an owner of many objects gets one request.
TEST_F(DemandSetRequestsTest, TheObjectsOfANewDemandAreNoEvents) {
  for (const char* name : {"x", "y", "z"}) {
    Role role;
    role.mutable_metadata()->set_namespace_("foo");
    role.mutable_metadata()->set_name(name);
    cache_.Put(role);
  }
  demands_.Replace({{"", "a"}, "1"}, {{roles_}});
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
  EXPECT_TRUE(demands_.Check({{"", "a"}, "1"}).ok());
}

}  // namespace
}  // namespace mandate
