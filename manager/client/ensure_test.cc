// The tests use the double, whose managedFields equal the real server's
// (testing/conformance/rows/ensure.yaml).
#include "manager/client/ensure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "manager/client/client.h"
#include "manager/client/testing/double_fixture.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

using corev1::ConfigMap;
using rbacv1::ClusterRole;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kAny[] = {"*"};
constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kAny, .api_groups = kAny, .resources = kAny}}};
constexpr rbac::Mandate kScope = {.component = "scope", .rules = kRules};
constexpr rbac::Mandate kOther = {.component = "other", .rules = kRules};

using Data = std::vector<std::pair<std::string, std::string>>;

ConfigMap Map(const Data& data) {
  ConfigMap map;
  map.mutable_metadata()->set_namespace_("default");
  map.mutable_metadata()->set_name("a");
  for (const auto& [key, value] : data) (*map.mutable_data())[key] = value;
  return map;
}

ClusterRole Role(std::vector<std::string> resources) {
  ClusterRole role;
  role.mutable_metadata()->set_name("a");
  for (std::string& resource : resources) {
    auto* rule = role.add_rules();
    rule->add_apigroups("");
    rule->add_resources(std::move(resource));
    rule->add_verbs("get");
  }
  return role;
}

// "manager operation", sorted.
template <class T>
std::vector<std::string> Managers(const T& object) {
  std::vector<std::string> managers;
  for (const auto& entry : object.metadata().managedfields()) {
    managers.push_back(StrCat(entry.manager(), " ", entry.operation()));
  }
  std::sort(managers.begin(), managers.end());
  return managers;
}

class EnsureTest : public DoubleFixture {
 protected:
  EnsureTest() {
    Connect(rest_);
    Connect(other_rest_);
  }

  absl::StatusOr<ConfigMap> Ensure(const Data& data, const ConfigMap* observed) {
    rest_.ForgetRequests();
    return client_.Ensure(context_, Map(data), observed);
  }
  void PatchByStranger(std::string json) {
    const auto patch = MergePatch::Unconditional(std::move(json));
    ASSERT_TRUE(stranger_.Patch<ConfigMap>(context_, {"default", "a"}, patch).ok());
  }
  void DeleteByStranger() {
    ASSERT_TRUE(stranger_.Delete<ConfigMap>(context_, {"default", "a"}).ok());
  }
  ConfigMap Stored() { return Must(client_.Get<ConfigMap>(context_, {"default", "a"})); }
  size_t Writes() const { return rest_.Count("P"); }  // PATCH, POST, PUT

  FakeRestClient rest_{loop_, "scope"};
  FakeRestClient other_rest_{loop_, "other"};
  Client<kScope> client_ = *Client<kScope>::Create(rest_);
  Client<kOther> stranger_ = *Client<kOther>::Create(other_rest_);
};

TEST_F(EnsureTest, CreatesAnObjectThatApplyOwns) {
  const auto made = Must(Ensure({{"k", "v"}}, nullptr));
  EXPECT_EQ(Writes(), 1u);
  EXPECT_THAT(made.data(), ElementsAre(Pair("k", "v")));
  EXPECT_THAT(Managers(made), ElementsAre("scope Apply"));
  EXPECT_EQ(made.metadata().resourceversion(), Stored().metadata().resourceversion());
  EXPECT_NE(made.metadata().resourceversion(), "1");
}

TEST_F(EnsureTest, RemovesWhatItOnceWroteAndNoLongerWants) {
  const auto made = Must(Ensure({{"k", "v"}, {"l", "v"}}, nullptr));
  PatchByStranger(R"({"data":{"x":"y"}})");
  const auto changed = Must(Ensure({{"k", "w"}}, &made));
  EXPECT_EQ(Writes(), 1u);
  EXPECT_THAT(changed.data(), UnorderedElementsAre(Pair("k", "w"), Pair("x", "y")))
      << "the field of another manager stays";
}

TEST_F(EnsureTest, EmptiesRules) {
  const auto made = Must(client_.Ensure(context_, Role({"pods", "secrets"}), nullptr));
  const auto emptied = Must(client_.Ensure(context_, Role({}), &made));
  EXPECT_EQ(emptied.rules_size(), 0);
}

TEST_F(EnsureTest, WritesNothingWhereNothingDiffers) {
  const auto made = Must(Ensure({{"k", "v"}}, nullptr));
  const auto again = Must(Ensure({{"k", "v"}}, &made));
  EXPECT_EQ(again.metadata().resourceversion(), made.metadata().resourceversion());
}

// Never adopts.

TEST_F(EnsureTest, ANameThatIsTakenIsLeftAlone) {
  for (const Data& data : {Data{{"k", "v"}}, Data{{"x", "y"}}}) {
    ASSERT_TRUE(stranger_.Create(context_, Map({{"x", "y"}})).ok());
    const ConfigMap before = Stored();
    const auto made = Ensure(data, nullptr);
    EXPECT_TRUE(IsAlreadyExists(made.status())) << made.status();
    EXPECT_EQ(
        made.status().message(),
        "ConfigMap default/a already exists, but component scope has not observed it, so it is "
        "not changed");
    EXPECT_FALSE(IsConflict(made.status()));
    EXPECT_EQ(Stored().SerializeAsString(), before.SerializeAsString());
    DeleteByStranger();
  }
}

TEST_F(EnsureTest, ANameThatIsTakenWhileTheRequestTravelsIsLeftAlone) {
  before_ = [this](const RestRequest& request) {
    if (request.content_type != "application/apply-patch+yaml") return;
    ASSERT_TRUE(server_.core()
                    .Load(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"x":"y"},
                              "metadata":{"name":"a","namespace":"default","uid":"theirs"}})")
                    .ok());
  };
  const auto made = Ensure({{"k", "v"}}, nullptr);
  EXPECT_TRUE(IsAlreadyExists(made.status())) << made.status();
  EXPECT_THAT(Stored().data(), ElementsAre(Pair("x", "y")));
}

TEST_F(EnsureTest, OfTwoWorkersOneCreates) {
  ASSERT_TRUE(Ensure({{"k", "one"}}, nullptr).ok());
  EXPECT_TRUE(IsAlreadyExists(Ensure({{"k", "two"}}, nullptr).status()));
  EXPECT_THAT(Stored().data(), ElementsAre(Pair("k", "one")));
}

TEST_F(EnsureTest, AnotherObjectOfTheNameIsLeftAlone) {
  const auto made = Must(Ensure({{"k", "v"}}, nullptr));
  DeleteByStranger();
  ASSERT_TRUE(stranger_.Create(context_, Map({{"x", "y"}})).ok());
  const ConfigMap before = Stored();
  const auto changed = Ensure({{"k", "w"}}, &made);
  EXPECT_TRUE(IsConflict(changed.status())) << changed.status();
  EXPECT_EQ(changed.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(changed.status().message()),
              HasSubstr(StrCat("ConfigMap default/a with uid ", made.metadata().uid(),
                               " was deleted since it was observed")));
  EXPECT_EQ(Stored().SerializeAsString(), before.SerializeAsString());
}

TEST_F(EnsureTest, AnObjectThatWasObservedAndIsGoneIsNotMadeAgain) {
  const auto made = Must(Ensure({{"k", "v"}}, nullptr));
  DeleteByStranger();
  const auto changed = Ensure({{"k", "w"}}, &made);
  EXPECT_EQ(changed.status().code(), absl::StatusCode::kAborted) << changed.status();
  EXPECT_TRUE(IsConflict(changed.status()));
  EXPECT_TRUE(absl::IsNotFound(client_.Get<ConfigMap>(context_, {"default", "a"}).status()));
  // A read waits until the cache has seen that it is gone.
  const auto pending = rest_.own_writes().Pending(KindOf<ConfigMap>::value, "default", "a");
  ASSERT_EQ(pending.size(), 1u);
  EXPECT_EQ(pending[0].gone, made.metadata().uid());
}

TEST_F(EnsureTest, AnObjectThatIsAsDesiredIsNotWritten) {
  const auto made = Must(Ensure({{"k", "v"}}, nullptr));
  EXPECT_EQ(Writes(), 1u);
  const auto same = Must(Ensure({{"k", "v"}}, &made));
  EXPECT_EQ(Writes(), 0u);
  EXPECT_EQ(same.metadata().uid(), made.metadata().uid());
  // The component owns "k" still, so an object without it is another one.
  EXPECT_THAT(Must(Ensure({}, &made)).data(), ElementsAre());
  EXPECT_EQ(Writes(), 1u);
  // Without managedFields nobody can tell.
  ConfigMap stripped = made;
  stripped.mutable_metadata()->clear_managedfields();
  (void)Must(Ensure({{"k", "v"}}, &stripped));
  EXPECT_EQ(Writes(), 1u);
}

// Takes over what older versions wrote.

TEST_F(EnsureTest, TakesOverWhatTheComponentOnceCreated) {
  const auto old = Must(client_.Create(context_, Map({{"k", "v"}, {"l", "v"}})));
  ASSERT_THAT(Managers(old), ElementsAre("scope Update"));
  const auto now = Must(Ensure({{"k", "v"}}, &old));
  EXPECT_THAT(now.data(), ElementsAre(Pair("k", "v")));
  EXPECT_THAT(Managers(now), ElementsAre("scope Apply"));
  EXPECT_EQ(Writes(), 2u);
  const auto again = Ensure({{"k", "v"}}, &now);
  EXPECT_EQ(Writes(), 0u) << "it is as desired";
  EXPECT_EQ(again->metadata().resourceversion(), now.metadata().resourceversion());
}

TEST_F(EnsureTest, TakesOverRulesThatWereCreatedAndFixedByApply) {
  ASSERT_TRUE(client_.Create(context_, Role({"pods", "secrets"})).ok());
  const auto mended = Must(client_.Apply(context_, Role({"pods"})));
  const auto now = Must(client_.Ensure(context_, Role({}), &mended));
  EXPECT_EQ(now.rules_size(), 0);
  EXPECT_THAT(Managers(now), testing::IsEmpty());
}

TEST_F(EnsureTest, TakesOverAgainWhenAnUpdateReappears) {
  auto made = Must(Ensure({{"k", "v"}}, nullptr));
  // An older replica, while a rollout lasts.
  made = Must(client_.Patch<ConfigMap>(context_, {"default", "a"},
                                       MergePatch::Unconditional(R"({"data":{"old":"x"}})")));
  ASSERT_THAT(Managers(made), ElementsAre("scope Apply", "scope Update"));
  made = Must(Ensure({{"k", "v"}}, &made));
  EXPECT_THAT(made.data(), ElementsAre(Pair("k", "v")));
  EXPECT_THAT(Managers(made), ElementsAre("scope Apply"));
}

TEST_F(EnsureTest, TakesOverWhatTheObservedObjectDoesNotShow) {
  auto old = Must(client_.Create(context_, Map({{"k", "v"}, {"l", "v"}})));
  old.mutable_metadata()->clear_managedfields();
  const auto now = Must(Ensure({{"k", "v"}}, &old));
  EXPECT_THAT(now.data(), ElementsAre(Pair("k", "v")));
  EXPECT_THAT(Managers(now), ElementsAre("scope Apply"));
  EXPECT_EQ(Writes(), 3u);
}

TEST_F(EnsureTest, ATakeoverOfAnObjectThatChangedIsAConflict) {
  const auto old = Must(client_.Create(context_, Map({{"k", "v"}, {"l", "v"}})));
  PatchByStranger(R"({"data":{"x":"y"}})");
  EXPECT_TRUE(IsConflict(Ensure({{"k", "v"}}, &old).status()));
  const ConfigMap observed = Stored();
  const auto now = Must(Ensure({{"k", "v"}}, &observed));
  EXPECT_THAT(now.data(), UnorderedElementsAre(Pair("k", "v"), Pair("x", "y")));
  EXPECT_THAT(Managers(now), ElementsAre("other Update", "scope Apply"));
}

TEST_F(EnsureTest, RecoversFromACrashBetweenTheTwoRequests) {
  const auto old = Must(client_.Create(context_, Map({{"k", "v"}, {"l", "v"}})));
  int left = 1;
  rest_.HandleLate([&](const RestRequest& request, const FakeRestClient::Reply& reply) {
    if (left-- <= 0) return reply(absl::UnavailableError("the process ends here"));
    Forward(request, reply);
  });
  EXPECT_TRUE(absl::IsUnavailable(Ensure({{"k", "v"}}, &old).status()));
  rest_.HandleLate([this](const RestRequest& request, const FakeRestClient::Reply& reply) {
    Forward(request, reply);
  });
  const ConfigMap observed = Stored();
  EXPECT_EQ(observed.data_size(), 2);
  const auto now = Must(Ensure({{"k", "v"}}, &observed));
  EXPECT_THAT(now.data(), ElementsAre(Pair("k", "v")));
  EXPECT_EQ(Writes(), 1u);
}

// Fields of other managers.

TEST_F(EnsureTest, RemovesFieldsOfOthersInOneConditionalWrite) {
  auto made = Must(client_.Ensure(context_, Role({"pods"}), nullptr));
  const auto edited = Must(stranger_.Patch<ClusterRole>(
      context_, {"", "a"},
      MergePatch::Unconditional(
          R"({"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]},
              "metadata":{"labels":{"l":"1","m":"2"},"finalizers":["example.com/f"]}})")));
  const FieldsToRemove removal = {.fields = {{"aggregationRule"}, {"metadata", "labels", "l"}},
                                  .finalizers = {"example.com/f"}};
  const auto latest = Must(stranger_.Patch<ClusterRole>(
      context_, {"", "a"}, MergePatch::Unconditional(R"({"metadata":{"labels":{"m":"3"}}})")));
  EXPECT_TRUE(IsConflict(client_.RemoveFields(context_, edited, removal).status()))
      << "it has changed since";
  rest_.ForgetRequests();
  const auto clean = Must(client_.RemoveFields(context_, latest, removal));
  EXPECT_EQ(Writes(), 1u);
  EXPECT_FALSE(clean.has_aggregationrule());
  EXPECT_THAT(clean.metadata().labels(), ElementsAre(Pair("m", "3")));
  EXPECT_EQ(clean.metadata().finalizers_size(), 0);
  EXPECT_EQ(clean.rules_size(), 1);
  EXPECT_THAT(Managers(clean), ElementsAre("other Update", "scope Apply"))
      << "the component's patch leaves no entry to take over";
  rest_.ForgetRequests();
  ASSERT_TRUE(client_.RemoveFields(context_, clean, removal).ok());
  EXPECT_EQ(Writes(), 0u) << "it has none of these";
}

// Errors.

TEST_F(EnsureTest, AConflictOverAnotherObjectIsNotAlreadyExists) {
  rest_.Handle([](const RestRequest&) {
    return FakeRestClient::Json(409, R"({"kind":"Status","reason":"Conflict","code":409,
        "message":"quota","details":{"name":"q","kind":"resourcequotas"}})");
  });
  const auto made = Ensure({{"k", "v"}}, nullptr);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(made.status().message(), "quota");
}

TEST_F(EnsureTest, ObservedMustBeTheObjectAsRead) {
  const auto made = Must(Ensure({{"k", "v"}}, nullptr));
  ConfigMap other = made;
  other.mutable_metadata()->set_name("b");
  EXPECT_EQ(
      Ensure({{"k", "v"}}, &other).status().message(),
      "the observed object is the ConfigMap default/b, but the desired object is the ConfigMap "
      "default/a");
  const ConfigMap invented = Map({});
  EXPECT_EQ(Ensure({{"k", "v"}}, &invented).status().message(),
            "the observed object, default/a, has no uid: it was not read from a server");
  EXPECT_EQ(Writes(), 0u);
}

}  // namespace
}  // namespace mandate
