#include "webhooks/scope/scope_webhooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "controllers/scope/testing_objects.h"
#include "manager/cache/testing/fake_cache_view.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/client/testing/mandate_server.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;
using testing::HasSubstr;
using testing::Not;

constexpr char kBind[] = R"("bind" on clusterroles)";

// The component with a cache that the test fills, and a server that answers its reviews.
class ScopeWebhooksTest : public testing::Test {
 protected:
  ScopeWebhooksTest() {
    client_.Handle([this](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      if (auto refused = rights_.Deny(request)) return *std::move(refused);
      Json::Value review = ParseJson(request.body).value();
      EXPECT_EQ(review["kind"], "SubjectAccessReview");
      EXPECT_EQ(review["spec"]["user"], "ann");
      EXPECT_EQ(review["spec"]["groups"][0], "dev");
      EXPECT_EQ(review["spec"]["extra"]["scopes"][0], "a");
      review["status"]["allowed"] = allowed_(review["spec"]["resourceAttributes"]);
      return FakeRestClient::Json(201, WriteJson(review));
    });
    auto made = MakeScopeWebhooks(component_);
    EXPECT_TRUE(made.ok()) << made.status();
    webhooks_ = *std::move(made);
    loop_.RunReady();
  }

  // "allowed", or the code and the message.
  template <class T>
  std::string Ask(const T& now, const T* old = nullptr) {
    AdmissionRequest request;
    request.set_operation(old == nullptr ? "CREATE" : "UPDATE");
    request.mutable_userinfo()->set_username("ann");
    request.mutable_userinfo()->add_groups("dev");
    (*request.mutable_userinfo()->mutable_extra())["scopes"].add_items("a");
    request.mutable_object()->set_raw(ToJson(now).value());
    if (old != nullptr) request.mutable_oldobject()->set_raw(ToJson(*old).value());
    return Ask<T>(request);
  }
  template <class T>
  std::string Ask(const AdmissionRequest& request) {
    AdmissionCall call({loop_.clock().TimeNow() + absl::Seconds(10), {}}, request);
    const std::string path = WebhookPath(WebhookType::kValidating, KindOf<T>::value);
    for (const Webhook& webhook : webhooks_.hooks) {
      if (webhook.path == path) webhook.handler(call);
    }
    warnings_.assign(call.response().warnings().begin(), call.response().warnings().end());
    if (!call.check_error().ok()) return StrCat("check error: ", call.check_error().message());
    if (call.response().allowed()) return "allowed";
    return StrCat(call.response().status().code(), " ", call.response().status().message());
  }
  void AllowAll() {
    allowed_ = [](const Json::Value&) { return true; };
  }

  SimulatedLoop loop_;
  SimulatedPool pool_{loop_, 1};
  FakeCacheView cache_{loop_};
  FakeRestClient client_{loop_, "scope-webhook"};
  MandateServer rights_{kScopeWebhook};
  Metrics metrics_;
  DiscardingEventRecorder events_;
  Component component_{kScopeWebhook, client_, events_,
                       ControllerContext{"scope-webhook", loop_, pool_, cache_, metrics_, Logger()},
                       "mandate-system"};
  // Of the resource attributes.
  std::function<bool(const Json::Value&)> allowed_ = [](const Json::Value&) { return false; };
  Webhooks webhooks_;
  std::vector<std::string> warnings_;  // of the last answer
};

TEST_F(ScopeWebhooksTest, DemandsWhatItReads) {
  EXPECT_EQ(webhooks_.demands.size(), 2u);
  EXPECT_EQ(cache_.demands().size(), 2u);
}

TEST_F(ScopeWebhooksTest, AsksTheServerAboutTheAuthorOfATemplate) {
  EXPECT_THAT(Ask(DocumentTemplate()), HasSubstr("403 attempting to grant RBAC permissions"));
  allowed_ = [](const Json::Value& asked) { return asked["verb"] == "escalate"; };
  EXPECT_EQ(Ask(DocumentTemplate()), "allowed");
  allowed_ = [](const Json::Value& asked) {
    return asked["resource"] == "pods" || asked["resource"] == "services";
  };
  EXPECT_EQ(Ask(DocumentTemplate()), "allowed");
}

TEST_F(ScopeWebhooksTest, FindsTheInstancesOfATemplate) {
  allowed_ = [](const Json::Value& asked) { return asked["verb"] == "escalate"; };
  cache_.Put(DocumentInstance(R"("namespaces":["foo"])"));
  EXPECT_THAT(Ask(DocumentTemplate()), HasSubstr("in the namespace \"foo\""));
  const ScopeTemplate old = DocumentTemplate();
  EXPECT_EQ(Ask(old, &old), "allowed");
}

TEST_F(ScopeWebhooksTest, WarnsOfTheInstancesThatGetANewRight) {
  AllowAll();
  cache_.Put(DocumentInstance(R"("namespaces":["foo"])"));
  const ScopeTemplate now = DocumentTemplate();
  EXPECT_EQ(Ask(now), "allowed");
  EXPECT_EQ(
      warnings_,
      (std::vector<std::string>{"these ScopeInstances bind the new permissions: foo (1 in all)"}));
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_EQ(Ask(now), "allowed");
    EXPECT_THAT(warnings_.at(0), Not(HasSubstr("others"))) << "before " << name;
    ScopeInstance instance = DocumentInstance(R"("namespaces":["foo"])");
    instance.mutable_metadata()->set_name(name);
    instance.mutable_metadata()->set_uid(name);
    cache_.Put(instance);
  }
  EXPECT_EQ(Ask(now), "allowed");
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], HasSubstr("and others (4 in all)"));
  EXPECT_EQ(std::ranges::count(warnings_[0], ','), 2) << warnings_[0];
  EXPECT_EQ(Ask(now, &now), "allowed");
  EXPECT_EQ(warnings_, std::vector<std::string>()) << "no new right";
  ScopeTemplate old = now;
  old.mutable_spec()->mutable_clusterroles(0)->mutable_rules(0)->mutable_verbs()->RemoveLast();
  EXPECT_EQ(Ask(now, &old), "allowed");
  EXPECT_EQ(warnings_.size(), 1u) << "an update with a new right";
}

TEST_F(ScopeWebhooksTest, FindsTheTemplateOfAnInstance) {
  const ScopeInstance instance = DocumentInstance(R"("namespaces":["foo"])");
  EXPECT_THAT(Ask(instance), HasSubstr(kBind)) << "the template does not exist";
  allowed_ = [](const Json::Value& asked) { return asked["verb"] != "bind"; };
  EXPECT_THAT(Ask(instance), HasSubstr("cannot bind resource \"clusterroles\""));
  cache_.Put(DocumentTemplate());
  EXPECT_EQ(Ask(instance), "allowed") << "the author has the rules of its roles";
}

TEST_F(ScopeWebhooksTest, AsksTwiceForAnAdministrator) {
  std::string namespaces;
  for (int i = 0; i < 5000; ++i) StrAppend(&namespaces, i == 0 ? "" : ",", "\"n", i, "\"");
  const ScopeInstance large = DocumentInstance(StrCat(R"("namespaces":[)", namespaces, "]"));
  cache_.Put(DocumentTemplate());
  EXPECT_THAT(Ask(large), HasSubstr("needs more than 1000 access reviews"));
  AllowAll();
  client_.ForgetRequests();
  EXPECT_EQ(Ask(large), "allowed");
  EXPECT_EQ(client_.requests().size(), 2u);
}

// One question allows what the other one does not.
TEST_F(ScopeWebhooksTest, WhoMayBindEveryRoleMayNotWriteOne) {
  allowed_ = [](const Json::Value& asked) { return asked["verb"] == "bind"; };
  EXPECT_THAT(Ask(DocumentTemplate()), HasSubstr(R"(or verb "escalate" on clusterroles)"));
  cache_.Put(DocumentTemplate());
  EXPECT_EQ(Ask(DocumentInstance()), "allowed");
  allowed_ = [](const Json::Value& asked) { return asked["verb"] == "escalate"; };
  EXPECT_THAT(Ask(DocumentInstance()), HasSubstr(R"(or verb "bind" on clusterroles)"));
}

// One user cannot take all threads by objects that need many reviews. The server needs half a
// second for each review, and lets users neither bind nor escalate.
class LargeChecksTest : public ScopeWebhooksTest {
 protected:
  using Answers = std::multiset<std::string>;

  LargeChecksTest() {
    cache_.Put(DocumentTemplate());
    client_.HandleLate([this](const RestRequest& request, const FakeRestClient::Reply& reply) {
      Json::Value review = ParseJson(request.body).value();
      const Json::Value& verb = review["spec"]["resourceAttributes"]["verb"];
      review["status"]["allowed"] = verb != "bind" && verb != "escalate";
      loop_.PostAt(loop_.clock().TimeNow() + absl::Milliseconds(500),
                   [reply, text = WriteJson(review)] { reply(FakeRestClient::Json(201, text)); });
    });
  }
  // In so many namespaces. Each needs 14 rights of the template's role, and the shortcut.
  static ScopeInstance Instance(int namespaces, std::string_view of = "foo") {
    ScopeInstance instance = DocumentInstance();
    instance.mutable_spec()->set_scopetemplatename(std::string(of));
    for (int i = 0; i < namespaces; ++i) instance.mutable_spec()->add_namespaces(StrCat("n", i));
    return instance;
  }
  // A later check begins while the earlier ones wait for the answers about their rights.
  void Send(const std::string& user, const ScopeInstance& instance) {
    next_ = std::max(next_, loop_.clock().TimeNow()) + absl::Milliseconds(600);
    loop_.PostAt(next_, [this, user, instance] {
      pool_.Post([this, user, instance] {
        AdmissionRequest request;
        request.set_operation("CREATE");
        request.mutable_userinfo()->set_username(user);
        request.mutable_object()->set_raw(ToJson(instance).value());
        answers_[user].insert(Ask<ScopeInstance>(request).substr(0, 40));
      });
    });
  }

  absl::Time next_ = absl::InfinitePast();
  std::map<std::string, Answers> answers_;
};

TEST_F(LargeChecksTest, TwoOfAUserRunAtOnce) {
  for (const char* user : {"ann", "ann", "ann", "bob"}) Send(user, Instance(4));
  Send("eve", Instance(1));
  loop_.RunFor(absl::Minutes(1));
  const std::string denied = "check error: checking it needs 60 access";
  EXPECT_EQ(answers_["ann"], (Answers{denied, "allowed", "allowed"}));
  EXPECT_EQ(answers_["bob"], (Answers{"allowed"}));
  EXPECT_EQ(answers_["eve"], (Answers{"allowed"}));
  Send("ann", Instance(4));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(answers_["ann"].count("allowed"), 3u) << "the others have ended";
  // The ServiceAccounts of a namespace count as one user.
  const std::string account = "system:serviceaccount:shop:";
  for (const char* name : {"a", "b", "c"}) Send(account + name, Instance(4));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(answers_[account + "b"], (Answers{"allowed"}));
  EXPECT_EQ(answers_[account + "c"], (Answers{denied}));
}

TEST_F(LargeChecksTest, FourRunAtOnceAndFiftyReviewsAreNotMany) {
  ScopeTemplate four_rights = DocumentTemplate();
  four_rights.mutable_metadata()->set_name("four");
  auto& rule = *four_rights.mutable_spec()->mutable_clusterroles(0)->mutable_rules(0);
  while (rule.verbs_size() > 2) rule.mutable_verbs()->RemoveLast();
  cache_.Put(four_rights);
  for (const char* user : {"ann", "bob", "ann", "bob", "eve"}) Send(user, Instance(8));
  Send("fifty", Instance(10, "four"));
  Send("more", Instance(11, "four"));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(answers_["ann"], (Answers{"allowed", "allowed"}));
  EXPECT_EQ(answers_["bob"], (Answers{"allowed", "allowed"}));
  EXPECT_EQ(answers_["eve"], (Answers{"check error: checking it needs 120 acces"}));
  EXPECT_EQ(answers_["fifty"], (Answers{"allowed"}));
  EXPECT_EQ(answers_["more"], (Answers{"check error: checking it needs 55 access"}));
}

TEST_F(ScopeWebhooksTest, AnInstanceUpdateIsCheckedOnlyForNewGrants) {
  const ScopeInstance foo = DocumentInstance(R"("namespaces":["foo"])");
  EXPECT_EQ(Ask(foo, &foo), "allowed");
  const ScopeInstance old = DocumentInstance(R"("namespaces":["kube-system"])");
  EXPECT_EQ(Ask(old, &old), "allowed") << "from before the webhook";
  const ScopeInstance both = DocumentInstance(R"("namespaces":["bar","foo"])");
  EXPECT_EQ(Ask(foo, &both), "allowed") << "it only revokes";
  EXPECT_THAT(Ask(both, &foo), AllOf(HasSubstr("in the namespace \"bar\""), HasSubstr(kBind)));
}

TEST_F(ScopeWebhooksTest, AnOldMistakeOfATemplateMayStay) {
  ScopeTemplate old = DocumentTemplate();
  auto& subjects = *old.mutable_spec()->mutable_clusterroles(0)->mutable_bindingtemplate();
  subjects.mutable_subjects(0)->set_namespace_("mandate-system");
  EXPECT_EQ(Ask(old, &old), "allowed");
}

// Whoever reaches the port can send what the API server would reject by the CRD's schema.
TEST_F(ScopeWebhooksTest, RejectsTooLargeObjectsBeforeTheyAreExpanded) {
  AllowAll();
  ScopeTemplate large = DocumentTemplate();
  const ScopeTemplate small = large;
  for (int i = 0; i < 4500; ++i) {
    large.mutable_spec()->add_clusterroles()->set_generatename(StrCat("r", i));
    auto& subject = *large.mutable_spec()->mutable_bindingtemplate()->add_subjects();
    subject.set_kind("ServiceAccount");
    subject.set_name("default");
    subject.set_namespace_("mandate-system");
  }
  EXPECT_EQ(Ask(large), "403 spec.clusterRoles: 4501 items; the limit is 100");
  EXPECT_EQ(Ask(large, &small), "403 spec.clusterRoles: 4501 items; the limit is 100");
  EXPECT_TRUE(client_.requests().empty());
  EXPECT_EQ(Ask(small, &large), "allowed");
  EXPECT_FALSE(client_.requests().empty()) << "all of it is checked";

  ScopeInstance wide = DocumentInstance();
  for (int i = 0; i <= 10'000; ++i) wide.mutable_spec()->add_namespaces("foo");
  EXPECT_EQ(Ask(wide), "403 spec.namespaces: 10001 items; the limit is 10000");

  ScopeInstance selective = DocumentInstance();
  std::string values = R"("v")";
  for (int i = 0; i < 1000; ++i) StrAppend(&values, R"(,"v")");
  selective.mutable_spec()->mutable_namespaceselector()->set_raw(
      StrCat(R"({"matchExpressions":[{"key":"k","operator":"In","values":[)", values, "]}]}"));
  EXPECT_EQ(Ask(selective),
            "403 spec.namespaceSelector: 1006 labels, requirements and values; the limit is 1000");
}

// Otherwise no user could remove a finalizer of an object that is larger than it may be now.
TEST_F(ScopeWebhooksTest, AWriteOfTheMetadataNeedsNothing) {
  ScopeTemplate large = DocumentTemplate();
  for (int i = 0; i < 4500; ++i) large.mutable_spec()->add_clusterroles();
  ScopeTemplate labelled = large;
  (*labelled.mutable_metadata()->mutable_labels())["a"] = "b";
  EXPECT_EQ(Ask(labelled, &large), "allowed");
  ScopeInstance instance = DocumentInstance();
  instance.mutable_spec()->mutable_namespaceselector()->set_raw(R"({"a":5})");
  ScopeInstance finalized = instance;
  finalized.mutable_metadata()->add_finalizers("example.com/f");
  EXPECT_EQ(Ask(instance, &finalized), "allowed");
  ScopeInstance wide = DocumentInstance();
  for (int i = 0; i <= 10'000; ++i) wide.mutable_spec()->add_namespaces("foo");
  finalized = wide;
  finalized.mutable_metadata()->add_finalizers("example.com/f");
  EXPECT_EQ(Ask(wide, &finalized), "allowed");
  EXPECT_TRUE(client_.requests().empty());
}

// A verdict that comes too late is not needed any more.
TEST_F(ScopeWebhooksTest, EndsAtTheDeadline) {
  AllowAll();
  AdmissionRequest request;
  request.set_operation("CREATE");
  request.mutable_object()->set_raw(ToJson(DocumentTemplate()).value());
  std::stop_source late;
  late.request_stop();
  AdmissionCall call({loop_.clock().TimeNow(), late.get_token()}, request);
  webhooks_.hooks.front().handler(call);
  EXPECT_TRUE(absl::IsDeadlineExceeded(call.check_error())) << call.check_error();
  EXPECT_TRUE(client_.requests().empty());
}

TEST_F(ScopeWebhooksTest, DeniesWhatItCannotRead) {
  AllowAll();
  for (const KindInfo& kind : {KindOf<ScopeInstance>::value, KindOf<ScopeTemplate>::value}) {
    cache_.SetState(kind, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  }
  EXPECT_NE(Ask(DocumentTemplate()), "allowed");
  EXPECT_NE(Ask(DocumentInstance()), "allowed");
}

TEST_F(ScopeWebhooksTest, DeniesWithoutAnAnswer) {
  client_.Handle([](const RestRequest&) { return absl::UnavailableError("gone"); });
  EXPECT_THAT(Ask(DocumentTemplate()), HasSubstr("gone"));
}

TEST_F(ScopeWebhooksTest, RefusesWhatNobodyMayGrant) {
  AllowAll();
  EXPECT_THAT(Ask(DocumentInstance(R"("namespaces":["mandate-system"])")),
              HasSubstr("cannot be a target"));
  ScopeTemplate to_manager = DocumentTemplate();
  to_manager.mutable_spec()
      ->mutable_clusterroles(0)
      ->mutable_bindingtemplate()
      ->mutable_subjects(0)
      ->set_namespace_("mandate-system");
  EXPECT_THAT(Ask(to_manager), HasSubstr("cannot be a subject"));
}

TEST_F(ScopeWebhooksTest, AlwaysAllowsDeletions) {
  AdmissionRequest request;
  request.set_operation("DELETE");
  request.mutable_oldobject()->set_raw(ToJson(DocumentInstance()).value());
  EXPECT_EQ(Ask<ScopeInstance>(request), "allowed");
  request.mutable_oldobject()->set_raw(ToJson(DocumentTemplate()).value());
  EXPECT_EQ(Ask<ScopeTemplate>(request), "allowed");
}

}  // namespace
}  // namespace mandate::scope
