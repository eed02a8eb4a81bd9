// A component that may read Namespaces knows that a denied one does not exist.
#include <gtest/gtest.h>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/metadata.h"

namespace mandate {
namespace {

constexpr std::string_view kGroups[] = {kWidget.group, ""};
constexpr std::string_view kResources[] = {kWidget.plural, "namespaces"};
constexpr rbac::MandateRule kRules[] = {{{kReadVerbs, kGroups, kResources, {}, {}}, "", false}};
constexpr rbac::Mandate kMandate = {"a", kRules};

// Component a reads widgets in namespace foo.
class NamespaceGoneTest : public CacheFixture {
 protected:
  void SetUp() override {
    server_.PutNamespace("foo");
    server_.Put("foo/x");
    server_.Grant("a", "foo");
    view_ = &Add(a_, kMandate);
    demanded_ = DemandAndSettle(*view_, "foo");
    ASSERT_EQ(demanded_.Take(), "!+foo/x@102 Synced");
  }
  void SeeNamespaces(KindInfo kind = KindOf<corev1::Namespace>::value, std::string name = "") {
    server_.Grant("a", "namespaces");
    namespaces_ = view_->Demand({kind, "", std::move(name)}, nullptr);
    Settle();
    ASSERT_EQ(namespaces_->status().state, DemandState::kSynced);
  }
  // As a server does it: the RoleBindings go, too.
  void DeleteNamespace() {
    server_.Delete("foo/x");
    server_.Revoke("a", "foo");
    server_.DeleteNamespace("foo");
    Settle();
  }
  void CreateNamespace() {
    server_.PutNamespace("foo");
    server_.Grant("a", "foo");
    Settle();
  }
  std::string Reason() { return std::string(demanded_.handle->status().reason.message()); }
  // How many requests about widgets are sent meanwhile.
  size_t RequestsWithin(absl::Duration time) {
    a_.ForgetRequests();
    loop_.RunFor(time);
    return a_.Count("widgets") + a_.Count(kReviews);
  }

  CacheView* view_ = nullptr;
  Demanded demanded_;
  std::unique_ptr<DemandHandle> namespaces_;
};

TEST_F(NamespaceGoneTest, IsNoticedAtOnceAndNotProbed) {
  SeeNamespaces();
  DeleteNamespace();
  EXPECT_EQ(demanded_.Take(), "-foo/x@103 Forbidden");
  EXPECT_EQ(Reason().find("namespace foo does not exist, and a may not"), 0u) << Reason();
  EXPECT_EQ(RequestsWithin(absl::Minutes(20)), 0u);
  CreateNamespace();
  EXPECT_EQ(demanded_.state(), DemandState::kSynced) << "without a hint";
  server_.Put("foo/x");
  Settle();
  EXPECT_EQ(demanded_.Take(), "Pending Synced +foo/x@106");
}

TEST_F(NamespaceGoneTest, MetadataOrTheOneNamespaceIsEnough) {
  SeeNamespaces(KindOf<Metadata<corev1::Namespace>>::value, "foo");
  DeleteNamespace();
  EXPECT_EQ(Reason().find("namespace foo does not exist"), 0u) << Reason();
  CreateNamespace();
  EXPECT_EQ(demanded_.state(), DemandState::kSynced);
}

TEST_F(NamespaceGoneTest, WithoutTheRightToSeeItItIsProbed) {
  DeleteNamespace();
  loop_.RunFor(absl::Minutes(6));
  EXPECT_EQ(demanded_.state(), DemandState::kForbidden);
  EXPECT_EQ(Reason().find("a may not"), 0u) << Reason();
  EXPECT_GT(RequestsWithin(absl::Minutes(20)), 10u);
}

// Another component's right does not count.
TEST_F(NamespaceGoneTest, NotByWhatAnotherComponentSees) {
  server_.Grant("b", "namespaces");
  CacheView& other = Add(b_, kMandate);
  const auto seen = other.Demand({KindOf<corev1::Namespace>::value, "", ""}, nullptr);
  Settle();
  DeleteNamespace();
  EXPECT_EQ(demanded_.state(), DemandState::kForbidden) << "it is a hint";
  EXPECT_EQ(Reason().find("a may not"), 0u) << Reason();
  EXPECT_GT(RequestsWithin(absl::Minutes(20)), 10u);
}

TEST_F(NamespaceGoneTest, ItIsProbedAgainWhenNamespacesCannotBeSeen) {
  SeeNamespaces();
  DeleteNamespace();
  server_.Revoke("a", "namespaces");
  RetryAndSettle();
  ASSERT_EQ(namespaces_->status().state, DemandState::kForbidden);
  EXPECT_GT(RequestsWithin(absl::Minutes(20)), 10u);
}

// The watch goes on under b, so that a asks by reviews. No hint tells it that it sees no Namespaces
// any more.
TEST_F(NamespaceGoneTest, AMemberIsProbedAgainWhenNamespacesCannotBeSeen) {
  SeeNamespaces();
  CacheView& other = AddGranted(b_);
  const Demanded of_b = DemandAndSettle(other, "foo");
  DeleteNamespace();
  ASSERT_EQ(demanded_.state(), DemandState::kForbidden);
  ASSERT_EQ(of_b.state(), DemandState::kSynced);
  EXPECT_EQ(RequestsWithin(absl::Minutes(2)), 0u);
  server_.Revoke("a", "namespaces");
  loop_.RunFor(absl::Minutes(6));
  ASSERT_EQ(namespaces_->status().state, DemandState::kForbidden);
  EXPECT_GT(RequestsWithin(absl::Minutes(20)), 10u);
}

TEST_F(NamespaceGoneTest, ADeniedNamespaceThatExistsIsProbed) {
  SeeNamespaces();
  server_.Revoke("a", "foo");
  RetryAndSettle();
  EXPECT_EQ(Reason().find("a may not"), 0u) << Reason();
  EXPECT_GT(RequestsWithin(absl::Minutes(20)), 10u);
  server_.DeleteNamespace("foo");
  Settle();
  EXPECT_EQ(Reason().find("namespace foo does not exist"), 0u) << Reason();
  EXPECT_EQ(RequestsWithin(absl::Minutes(20)), 0u);
}

class SeldomProbedTest : public NamespaceGoneTest {
 protected:
  SeldomProbedTest() {
    options_.reflector.forbidden_backoff = {
        .initial = absl::Hours(1), .factor = 1, .max = absl::Hours(1), .jitter = 0};
  }
};

// The watch of Namespaces was down meanwhile.
TEST_F(SeldomProbedTest, ItsReturnIsNoticedAmongManyChanges) {
  for (const int others : {0, 1000}) {
    SCOPED_TRACE(others);
    SeeNamespaces();
    DeleteNamespace();
    ASSERT_EQ(demanded_.state(), DemandState::kForbidden);
    EndRequests(a_, absl::UnavailableError("connection refused"));
    for (const auto& watch : a_.watches()) {
      if (watch->live()) watch->Close(absl::UnavailableError("reset"));
    }
    loop_.RunFor(absl::Seconds(5));
    for (int i = 0; i < others; ++i) server_.PutNamespace(StrCat("other-", i));
    CreateNamespace();
    server_.Compact();
    ASSERT_EQ(demanded_.state(), DemandState::kForbidden);
    server_.Serve(a_);
    ASSERT_TRUE(loop_.RunUntil([&] { return namespaces_->status().state == DemandState::kSynced; },
                               absl::Minutes(1)));
    Settle();
    EXPECT_EQ(demanded_.state(), DemandState::kSynced) << "before the next probe, in an hour";
  }
}

}  // namespace
}  // namespace mandate
