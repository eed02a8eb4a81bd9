// A controller whose view is restricted to namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/namespaced_view.h"
#include "manager/controller/builder.h"
#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ControllerNamespacesTest : public ControllerTest {
 protected:
  ControllerNamespacesTest() {
    for (const char* ns : {"shop", "bank", "other"}) Put<Lease>(ns, ns);
  }
  UncheckedControllerBuilder Builder() {
    ControllerContext context = Runtime();
    return UncheckedControllerBuilder(
        {context.component, context.loop, context.pool, view_, context.metrics, context.log, 1});
  }
  template <class T>
  void Put(const std::string& ns, const std::string& name) {
    T object;
    object.mutable_metadata()->set_namespace_(ns);
    object.mutable_metadata()->set_name(name);
    cache_.Put(object);
  }
  void DenyLeases(const std::string& ns) {
    cache_.SetState({kLease, ns, ""}, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  }
  std::vector<std::string> Take() {
    loop_.RunFor(absl::Seconds(2));
    return std::exchange(names_, {});
  }

  NamespacedView view_{cache_, {"shop", "bank"}};
};

TEST_F(ControllerNamespacesTest, ReconcilesTheObjectsOfItsNamespaces) {
  auto builder = Builder();
  builder.For<Lease>().Watches<Role>([calls = 0](const Role&) mutable {
    return std::vector<Request>{{{"", "call-" + std::to_string(++calls)}}};
  });
  Start(builder.Complete(Recorder()));
  EXPECT_EQ(
      cache_.demands(),
      (std::vector<DemandSpec>{
          {kLease, "bank", ""}, {kLease, "shop", ""}, {kRole, "bank", ""}, {kRole, "shop", ""}}));
  EXPECT_THAT(Take(), UnorderedElementsAre("shop", "bank"));
  EXPECT_EQ(controller_->Ready(), absl::OkStatus());
  Put<Lease>("other", "new");
  EXPECT_THAT(Take(), IsEmpty());
  Put<Lease>("shop", "new");
  EXPECT_THAT(Take(), ElementsAre("new"));
  Put<Role>("shop", "r");
  EXPECT_THAT(Take(), ElementsAre("call-1"));
  Put<Role>("bank", "r");
  EXPECT_THAT(Take(), ElementsAre("call-2")) << "the map has one state";
}

TEST_F(ControllerNamespacesTest, AForbiddenNamespaceDoesNotHoldUpTheOthers) {
  DenyLeases("bank");
  auto builder = Builder();
  builder.For<Lease>();
  Start(builder.Complete(Recorder()));
  EXPECT_THAT(Take(), ElementsAre("shop"));
  EXPECT_THAT(std::string(controller_->Ready().message()), HasSubstr("in namespace bank"));
  cache_.SetState({kLease, "bank", ""}, DemandState::kSynced);
  EXPECT_THAT(Take(), UnorderedElementsAre("shop", "bank")) << "all objects are mapped again";
  EXPECT_EQ(controller_->Ready(), absl::OkStatus());
}

TEST_F(ControllerNamespacesTest, WorkersWaitForANamespaceThatIsNotListed) {
  cache_.SetState({kLease, "bank", ""}, DemandState::kPending, absl::UnavailableError("down"));
  auto builder = Builder();
  builder.For<Lease>();
  Start(builder.Complete(Recorder()));
  loop_.RunFor(absl::Minutes(5));
  EXPECT_THAT(names_, IsEmpty()) << "it may be listed soon, and nothing is known of it";
  cache_.SetState({kLease, "bank", ""}, DemandState::kSynced);
  EXPECT_THAT(Take(), UnorderedElementsAre("shop", "bank"));
}

}  // namespace
}  // namespace mandate
