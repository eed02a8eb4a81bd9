#include "manager/controller/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

using coordinationv1::Lease;
using rbacv1::ClusterRole;
using rbacv1::Role;
using rbacv1::RoleBinding;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class BuilderTest : public ControllerTest {
 protected:
  BuilderTest() {
    reconcile_ = [this](const CallContext&, const Request& request) {
      keys_.push_back(request.key.ToString());
      return Result{};
    };
  }
  void Run() {
    Start(builder_.Complete(Recorder()));
    loop_.RunFor(absl::Seconds(1));
  }
  std::vector<std::string> TakeKeys() {
    loop_.RunFor(absl::Seconds(1));
    return std::exchange(keys_, {});
  }
  std::string ErrorOf(UncheckedControllerBuilder& builder) {
    const auto controller = builder.Complete(Recorder());
    EXPECT_TRUE(absl::IsInvalidArgument(controller.status()));
    return std::string(controller.status().message());
  }
  template <class T>
  T Put(const std::string& ns, const std::string& name, const std::string& owner = "") {
    T object;
    object.mutable_metadata()->set_namespace_(ns);
    object.mutable_metadata()->set_name(name);
    if (!owner.empty()) {
      auto* reference = object.mutable_metadata()->add_ownerreferences();
      reference->set_apiversion("rbac.authorization.k8s.io/v1beta1");
      reference->set_kind("ClusterRole");
      reference->set_name(owner);
      reference->set_uid("u");
      reference->set_controller(true);
    }
    return cache_.Put(object);
  }

  std::vector<std::string> keys_;  // of each reconciliation
  UncheckedControllerBuilder builder_{Runtime()};
};

TEST_F(BuilderTest, ForOwnsWatches) {
  builder_.For<ClusterRole>()
      .Owns<RoleBinding>()
      .Watches<Lease>([](const Lease& lease) {
        return std::vector<Request>{{{"", "of-" + lease.metadata().name()}}};
      })
      .Watches<Role>([](const ObjectEvent& event) {
        return std::vector<Request>{{{"", "event-" + std::string(event.object->name())}}};
      });
  Run();
  EXPECT_EQ(controller_->name(), "clusterrole");
  EXPECT_EQ(controller_->component(), "scope-instance");
  EXPECT_EQ(cache_.demands().size(), 4u);

  Put<ClusterRole>("", "a");
  EXPECT_THAT(TakeKeys(), ElementsAre("a"));
  // The namespace is dropped: the owner has none. The version of the reference does not matter.
  Put<RoleBinding>("foo", "b", "owner");
  EXPECT_THAT(TakeKeys(), ElementsAre("owner"));
  Put<RoleBinding>("foo", "c");
  EXPECT_THAT(TakeKeys(), IsEmpty());
  Put<Lease>("foo", "l");
  EXPECT_THAT(TakeKeys(), ElementsAre("of-l"));
  Put<Role>("foo", "r");
  EXPECT_THAT(TakeKeys(), ElementsAre("event-r"));
}

TEST_F(BuilderTest, PredicatesOfOneSourceAndOfAll) {
  const auto only = [](const std::string& prefix) {
    return [prefix](const ObjectEvent& event) { return event.object->name().starts_with(prefix); };
  };
  builder_.Named("my-controller")
      .For<ClusterRole>(only("ab"), Not(only("abc")))
      .Watches<Lease>([](const Lease&) {
        return std::vector<Request>{{{"", "lease"}}};
      })
      .WithEventFilter(Not(only("x")));
  Run();
  EXPECT_EQ(controller_->name(), "my-controller");
  Put<ClusterRole>("", "a");
  Put<ClusterRole>("", "abd");
  Put<ClusterRole>("", "abcd");
  EXPECT_THAT(TakeKeys(), ElementsAre("abd"));
  Put<Lease>("", "x");
  EXPECT_THAT(TakeKeys(), IsEmpty());
  Put<Lease>("", "y");
  EXPECT_THAT(TakeKeys(), ElementsAre("lease"));
}

TEST_F(BuilderTest, Scopes) {
  builder_.For<Lease>(InNamespace{"ns"})
      .Owns<RoleBinding>(InNamespace{"ns"})
      .Watches<Role>(OneObject{"ns", "r"}, [](const Role& role) {
        return std::vector<Request>{{{"ns", "of-" + role.metadata().name()}}};
      });
  Run();
  ASSERT_EQ(cache_.demands().size(), 3u);
  EXPECT_EQ(cache_.demands()[0], (DemandSpec{KindOf<Lease>::value, "ns", ""}));
  EXPECT_EQ(cache_.demands()[1], (DemandSpec{KindOf<RoleBinding>::value, "ns", ""}));
  EXPECT_EQ(cache_.demands()[2], (DemandSpec{KindOf<Role>::value, "ns", "r"}));
  Put<Lease>("ns", "a");
  Put<Lease>("other", "b");
  Put<Role>("ns", "r");
  Put<Role>("ns", "s");
  EXPECT_THAT(TakeKeys(), ElementsAre("ns/a", "ns/of-r"));
}

// Text of an object that is empty must not widen the demand.
TEST_F(BuilderTest, AnEmptyNameIsNotEverything) {
  EXPECT_EQ(DemandOf<Role>(OneObject{"ns", ""}).name, DemandSpec::kEmpty);
  EXPECT_EQ(DemandOf<Role>(OneObject{"", "r"}).ns, DemandSpec::kEmpty);
  EXPECT_EQ(DemandOf<Role>(InNamespace{""}).ns, DemandSpec::kEmpty);
  EXPECT_EQ(DemandOf<ClusterRole>(OneObject{"", "r"}),
            (DemandSpec{KindOf<ClusterRole>::value, "", "r"}));
}

TEST_F(BuilderTest, AScopeWithASelector) {
  const LabelSelector red = *LabelSelector::Parse("colour=red");
  builder_.For<Lease>(InNamespace{"ns", red});
  Run();
  ASSERT_EQ(cache_.demands().size(), 1u);
  EXPECT_EQ(cache_.demands()[0], (DemandSpec{KindOf<Lease>::value, "ns", "", "colour=red"}));
}

// Two demands of one kind and scope share a watch, and each event comes once.
TEST_F(BuilderTest, OneDemandWithSeveralHandlers) {
  const auto named = [](const std::string& name) {
    return [name](const ObjectEvent& event) { return event.object->name() == name; };
  };
  const auto as = [](const std::string& text) {
    return [text](const ClusterRole& role) {
      return std::vector<Request>{{{"", text + role.metadata().name()}}};
    };
  };
  builder_.For<ClusterRole>(named("a"))
      .Watches<Lease>([](const Lease&) { return std::vector<Request>{}; })
      .Watches<ClusterRole>([](const ClusterRole&) -> std::vector<Request> { throw 1; })
      .Watches<ClusterRole>(as("of-"), named("b"))
      .Watches<ClusterRole>(as("also-"))
      .Watches<ClusterRole>(OneObject{"", "a"}, as("one-"));
  cache_.SetState(KindOf<Lease>::value, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  Run();
  ASSERT_EQ(cache_.demands().size(), 3u);
  EXPECT_EQ(cache_.demands()[0], (DemandSpec{KindOf<ClusterRole>::value, "", ""}));
  EXPECT_EQ(cache_.demands()[2], (DemandSpec{KindOf<ClusterRole>::value, "", "a"}));
  Put<ClusterRole>("", "b");
  EXPECT_THAT(TakeKeys(), ElementsAre("of-b", "also-b")) << "an error of one is its own";
  Put<ClusterRole>("", "a");
  EXPECT_THAT(TakeKeys(), UnorderedElementsAre("a", "also-a", "one-a"));
  EXPECT_EQ(Counter("mandate_controller_event_errors_total", {{"controller", "clusterrole"}}), 2);
}

// The event belongs to For(), whichever source it comes from.
TEST_F(BuilderTest, TheReconciledKindIsWaitedFor) {
  builder_.Watches<Role>([](const Role&) { return std::vector<Request>{}; })
      .For<Role>()
      .Watches<Role>([](const Role&) {
        return std::vector<Request>{{{"", "x"}}};
      })
      .Watches<Lease>([](const Lease&) {
        return std::vector<Request>{{{"", "of-lease"}}};
      });
  cache_.SetState(KindOf<Role>::value, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  Put<Role>("ns", "a");
  Put<Lease>("ns", "l");
  Run();
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(NotReady(), HasSubstr("waits for roles"));
  EXPECT_THAT(TakeKeys(), IsEmpty());
  cache_.SetState(KindOf<Role>::value, DemandState::kSynced);
  EXPECT_THAT(TakeKeys(), UnorderedElementsAre("ns/a", "x", "of-lease"));
}

TEST_F(BuilderTest, Options) {
  builder_.For<Lease>().WithOptions({.max_concurrent_reconciles = 7});
  Run();
  EXPECT_EQ(Gauge("controller_runtime_max_concurrent_reconciles", {{"controller", "lease"}}), 7);
}

TEST_F(BuilderTest, Mistakes) {
  const std::pair<void (*)(UncheckedControllerBuilder&), const char*> rows[] = {
      {[](UncheckedControllerBuilder& builder) { builder.For<Lease>().For<Role>(); },
       "reconciles one kind"},
      {[](UncheckedControllerBuilder& builder) { builder.Owns<Lease>().For<Role>(); },
       "must come after For()"},
      {[](UncheckedControllerBuilder& builder) { builder.Named("x"); }, "watches nothing"},
  };
  for (const auto& [make, error] : rows) {
    UncheckedControllerBuilder builder(Runtime());
    make(builder);
    EXPECT_THAT(ErrorOf(builder), HasSubstr(error));
  }
}

}  // namespace
}  // namespace mandate
