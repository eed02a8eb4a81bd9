// What writes that take long for some objects do to the revocations of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/scope/testing_fixture.h"
#include "testing/apiserver/errors.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr int kWorkers = 4;
constexpr int kSlow = kWorkers + 2;

class SlowWritesTest : public ScopedTest {
 protected:
  SlowWritesTest()
      : ScopedTest({.plan = {}, .portion = {}, .max_concurrent_reconciles = kWorkers}) {}
  void SetUp() override { Begin(R"("namespaces": ["foo"])", kAnn); }

  // Some instances each write a binding into the namespace bar.
  void CreateSlowInstances() {
    for (int i = 0; i < kSlow; ++i) {
      EXPECT_EQ(cluster_.Create(kInstances,
                                InstanceJson(StrCat("slow", i), R"("namespaces": ["bar"])", "foo")),
                201);
    }
  }
  void Fail(const apiserver::Fault& fault) {
    cluster_.faults().Add({.verb = "patch",
                           .path_prefix = "/apis/rbac.authorization.k8s.io/v1/namespaces/bar/",
                           .fault = fault});
  }
  // How long the instance foo's binding is still there when it is wanted no more. It is edited when
  // so many slow writes have begun as there are workers, after `begin`.
  absl::Duration UntilRevoked(const std::function<void()>& begin) {
    int slow = 0;
    std::optional<absl::Time> edited, revoked;
    const auto now = [&] { return cluster_.loop().clock().TimeNow(); };
    cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
      if (write == "PATCH rolebindings bar" && ++slow == kWorkers) {
        EXPECT_EQ(cluster_.Merge(kInstances, "foo", R"({"spec":{"namespaces":["none"]}})"), 200);
        edited = now();
      }
      if (write == "DELETE rolebindings foo") revoked = now();
      return std::nullopt;
    };
    begin();
    EXPECT_TRUE(cluster_.loop().RunUntil([&] { return revoked.has_value(); }));
    cluster_.intercept = nullptr;
    return *revoked - *edited;
  }
};

TEST_F(SlowWritesTest, OthersAreHeldUpByOneRequestAtMost) {
  Fail({.delay = absl::Seconds(10)});
  EXPECT_LE(UntilRevoked([this] { CreateSlowInstances(); }), absl::Seconds(5))
      << "nobody knows yet who is slow";
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_EQ(cluster_.Ours(kBindings, "bar").size(), size_t{kSlow}) << "all are written in the end";
  for (int i = 0; i < kSlow; ++i)
    EXPECT_THAT(cluster_.Scoped(StrCat("slow", i)), StartsWith("True"));
}

TEST_F(SlowWritesTest, OthersAreNotHeldUpByThoseThatAreKnown) {
  Fail({.ignore = true});
  CreateSlowInstances();
  cluster_.RunFor(absl::Minutes(5));
  EXPECT_LE(UntilRevoked([] {}), absl::Seconds(1));
  EXPECT_THAT(cluster_.Scoped("slow0"),
              AllOf(StartsWith("False "), HasSubstr("RoleBinding bar/reader-")));
  EXPECT_THAT(cluster_.Ours(kBindings, "bar"), IsEmpty());
  cluster_.faults().Clear();
  cluster_.RunFor(absl::Minutes(3));
  EXPECT_EQ(cluster_.Ours(kBindings, "bar").size(), size_t{kSlow});
}

// A server that is busy, or a webhook, may ask to be asked later.
TEST_F(SlowWritesTest, OthersAreNotHeldUpByThoseThatAreAskedToWait) {
  Fail({.refuse = apiserver::TooManyRequests("busy", 25)});
  EXPECT_LE(UntilRevoked([this] { CreateSlowInstances(); }), absl::Seconds(1));
  EXPECT_THAT(cluster_.Scoped("slow0"), AllOf(StartsWith("False "), HasSubstr("busy")));
}

// It takes as long as it takes until the server has answered what there is.
TEST_F(SlowWritesTest, NothingSaysSuccessWhileASlowAnswerIsWaitedFor) {
  Fail({.delay = absl::Seconds(10)});
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("slow", R"("namespaces": ["bar"])", "foo")),
            201);
  cluster_.RunFor(absl::Minutes(1));
  ASSERT_THAT(cluster_.Scoped("slow"), StartsWith("True"));
  std::vector<std::string> said;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write == "PATCH rolebindings bar") said.push_back(cluster_.Scoped("slow"));
    return std::nullopt;
  };
  EXPECT_EQ(
      cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":)", kAnnAndEve, "}}")),
      200);
  cluster_.RunFor(absl::Minutes(1));
  EXPECT_THAT(said, ElementsAre(StartsWith("False ScopingInProgress")));
  EXPECT_THAT(cluster_.Scoped("slow"), StartsWith("True"));
}

}  // namespace
}  // namespace mandate::scope
