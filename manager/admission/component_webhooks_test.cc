#include <gmock/gmock.h>

#include <stdexcept>
#include <vector>

#include "manager/admission/component_webhooks_fixture.h"

namespace mandate {
namespace {

using testing::HasSubstr;

TEST_F(ComponentWebhooksTest, AnswersWithTheVerdictAndTheUid) {
  Start([](AdmissionCall& call) {
    SetVerdict(call.request().uid() == "good" ? absl::OkStatus() : absl::InternalError("bad"),
               call);
  });
  EXPECT_EQ(WriteJson(Ask(Body("good"))), R"({"allowed":true,"status":{"code":200},"uid":"good"})");
  EXPECT_EQ(
      WriteJson(Ask(Body("x"))),
      R"({"allowed":false,"status":{"code":403,"message":"bad","reason":"Forbidden"},"uid":"x"})");
  EXPECT_EQ(Requests("200"), 2);
  EXPECT_EQ(webhooks_->in_flight(), 0u);
  loop_.RunFor(absl::Seconds(20));
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

TEST_F(ComponentWebhooksTest, ReportsInTheReviewWhatItCannotRead) {
  Start([](AdmissionCall& call) { SetVerdict(absl::OkStatus(), call); });
  EXPECT_EQ(Ask("{}")["status"]["code"], 400);
  const auto typed = Send(Body("u"), "", "application/json; charset=utf-8");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT((*typed)->body, HasSubstr("must be application/json"));
  EXPECT_EQ((*typed)->code, 200);
}

TEST_F(ComponentWebhooksTest, AnExceptionIsA500OfThatReview) {
  Start([](AdmissionCall& call) {
    call.Warn("said before");
    SetVerdict(absl::OkStatus(), call);
    throw std::runtime_error("boom");
  });
  const Json::Value response = Ask(Body("u"));
  EXPECT_EQ(response["allowed"], false);
  EXPECT_EQ(response["status"]["code"], 500);
  EXPECT_EQ(response["uid"], "u");
  EXPECT_FALSE(response.isMember("warnings"));
  EXPECT_EQ(log_->Count("boom"), 1);
  EXPECT_EQ(metrics_.Counter("controller_runtime_webhook_panics_total", "", {{"webhook", "/hook"}})
                .Value(),
            1);
}

TEST_F(ComponentWebhooksTest, BoundsReviewsAndTheirBytes) {
  bounds_.max_in_flight = 2;
  bounds_.max_bytes_in_flight = 1000;
  Start([&](AdmissionCall& call) {
    Wait(absl::Seconds(1));
    SetVerdict(absl::OkStatus(), call);
  });
  EXPECT_EQ((*Send(std::string(1001, 'x')))->code, 429);
  const auto first = Send(Body("u1"));
  const auto second = Send(Body("u2"));
  EXPECT_EQ((*Send(Body("u3")))->code, 429);
  EXPECT_EQ(Gauge("mandate_webhook_in_flight", {{"identity", "scope"}}), 2);
  EXPECT_EQ(Gauge("mandate_webhook_bytes_in_flight", {{"identity", "scope"}}),
            2 * static_cast<double>(Body("u1").size()));
  const Labels hook = {{"webhook", "/hook"}};
  EXPECT_EQ(Gauge("controller_runtime_webhook_requests_in_flight", hook), 2);
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(Gauge("controller_runtime_webhook_requests_in_flight", hook), 0);
  EXPECT_EQ((*first)->code, 200);
  EXPECT_EQ((*second)->code, 200);
  EXPECT_EQ(Gauge("mandate_webhook_in_flight", {{"identity", "scope"}}), 0);
  EXPECT_EQ(metrics_.Counter("mandate_webhook_rejected_requests_total", "", {{"identity", "scope"}})
                .Value(),
            2);
  EXPECT_EQ(log_->Count("Too many reviews in flight"), 1) << "one line a minute";
}

TEST_F(ComponentWebhooksTest, BoundsTheSumOfTheBodies) {
  bounds_.max_bytes_in_flight = 100;
  Start([](AdmissionCall&) {});
  const auto admit = [&](size_t bytes) { return routes_.at("/hook").admit(bytes); };
  const auto is_admitted = [](const auto& admitted) { return admitted.index() == 0; };
  auto first = admit(60);
  EXPECT_TRUE(is_admitted(first));
  EXPECT_FALSE(is_admitted(admit(41)));
  EXPECT_TRUE(is_admitted(admit(40)));
  first = {};
  EXPECT_EQ(Gauge("mandate_webhook_bytes_in_flight", {{"identity", "scope"}}), 0);
  EXPECT_TRUE(is_admitted(admit(100)));
}

// The failurePolicy decides, not we.
TEST_F(ComponentWebhooksTest, AnswersWithAnHttpErrorWhatItCouldNotCheck) {
  absl::Status status;
  Start([&](AdmissionCall& call) { SetVerdict(status, call); });
  const struct {
    absl::Status status;
    int code;
  } kCases[] = {{absl::DeadlineExceededError("it took too long"), 504},
                {absl::UnavailableError("the watch is down"), 500},
                {absl::PermissionDeniedError("no"), 200}};
  for (const auto& c : kCases) {
    status = c.status;
    const auto answer = Send(Body("u"));
    loop_.RunFor(absl::Seconds(1));
    EXPECT_EQ((*answer)->code, c.code);
    EXPECT_THAT((*answer)->body, HasSubstr(std::string(c.status.message())));
    EXPECT_EQ(Requests(std::to_string(c.code).c_str()), 1);
  }
}

// The handler may send the user in every access review.
TEST_F(ComponentWebhooksTest, ALargeUserIsA413WithoutTheHandler) {
  bounds_.max_user_info_bytes = 100;
  int handled = 0;
  Start([&](AdmissionCall& call) {
    ++handled;
    SetVerdict(absl::OkStatus(), call);
  });
  const auto body = [](size_t name) {
    return StrCat(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)",
                  R"("uid":"u","operation":"CREATE","userInfo":{"username":")",
                  std::string(name, 'a'), R"("}}})");
  };
  EXPECT_EQ(Ask(body(85))["allowed"], true);
  const auto answer = Send(body(86));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ((*answer)->code, 413);
  EXPECT_THAT((*answer)->body, HasSubstr("request.userInfo: 101 bytes; the limit is 100"));
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(Requests("413"), 1);
}

TEST_F(ComponentWebhooksTest, AFloodOfOneUserDoesNotHoldUpAnother) {
  Start([&](AdmissionCall& call) {
    Wait(absl::Seconds(1));
    SetVerdict(absl::OkStatus(), call);
  });
  const auto body = [](std::string_view user) {
    return StrCat(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)",
                  R"("uid":"u","operation":"CREATE","userInfo":{"username":")", user, R"("}}})");
  };
  std::vector<std::shared_ptr<Answer>> flood;
  for (int i = 0; i < 199; ++i) flood.push_back(Send(body("flood"), "30s"));
  loop_.RunFor(absl::Milliseconds(500));
  const absl::Time start = loop_.clock().TimeNow();
  const auto other = Send(body("ann"));
  ASSERT_TRUE(loop_.RunUntil([&] { return other->has_value(); }));
  EXPECT_EQ((*other)->code, 200);
  EXPECT_LT(loop_.clock().TimeNow() - start, absl::Milliseconds(1100));
  EXPECT_EQ(Requests("429"), 39) << "a user has at most 160 of the 200";
  EXPECT_EQ(metrics_.Counter("mandate_webhook_rejected_requests_total", "", {{"identity", "scope"}})
                .Value(),
            39);
  EXPECT_THAT((*flood.back())->body, HasSubstr("too many reviews of this user"));
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(webhooks_->in_flight(), 0u);
}

// A user who may create ServiceAccounts may act as any number of them.
TEST_F(ComponentWebhooksTest, ServiceAccountsOfANamespaceHaveOneShare) {
  Start([&](AdmissionCall& call) {
    Wait(absl::Seconds(1));
    SetVerdict(absl::OkStatus(), call);
  });
  const auto body = [](std::string_view ns, int number) {
    return StrCat(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)",
                  R"("uid":"u","operation":"CREATE","userInfo":{"username":)",
                  R"("system:serviceaccount:)", ns, ":a", number, R"("}}})");
  };
  for (int i = 0; i < 199; ++i) Send(body("flood", i), "30s");
  loop_.RunFor(absl::Milliseconds(500));
  const absl::Time start = loop_.clock().TimeNow();
  const auto other = Send(body("shop", 1));
  ASSERT_TRUE(loop_.RunUntil([&] { return other->has_value(); }));
  EXPECT_EQ((*other)->code, 200);
  EXPECT_LT(loop_.clock().TimeNow() - start, absl::Milliseconds(1100));
  EXPECT_EQ(Requests("429"), 39) << "they have at most 160 of the 200 together";
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(webhooks_->in_flight(), 0u);
}

TEST_F(ComponentWebhooksTest, IsUnavailableUntilItIsReady) {
  Start([](AdmissionCall& call) { SetVerdict(absl::OkStatus(), call); });
  const KindInfo& kind = KindOf<corev1::ConfigMap>::value;
  cache_.SetState(kind, DemandState::kStale, absl::UnavailableError("configmaps are stale"));
  const auto answer = Send(Body("u"));
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->code, 503);
  EXPECT_THAT((*answer)->body, HasSubstr("configmaps are stale"));
  cache_.SetState(kind, DemandState::kSynced);
  loop_.RunReady();
  EXPECT_EQ(Ask(Body("u"))["allowed"], true);
}

TEST_F(ComponentWebhooksTest, SettlesWhenEachDemandIsSyncedOrHasFailed) {
  Start([](AdmissionCall& call) { SetVerdict(absl::OkStatus(), call); });
  const struct {
    DemandStatus status;
    bool settled;
  } cases[] = {
      {{DemandState::kPending, absl::UnavailableError("not listed yet"), false}, false},
      {{DemandState::kPending, absl::UnavailableError("conversion failed"), true}, true},
      {{DemandState::kForbidden, absl::PermissionDeniedError("no"), true}, true},
      {{DemandState::kStale, absl::UnavailableError("stale"), false}, true},
      {{DemandState::kSynced, absl::OkStatus(), false}, true},
  };
  for (const auto& c : cases) {
    cache_.SetStatus(KindOf<corev1::ConfigMap>::value, c.status);
    loop_.RunReady();
    EXPECT_EQ(webhooks_->DemandsSettled(), c.settled ? absl::OkStatus() : c.status.reason)
        << ToString(c.status.state);
  }
}

TEST_F(ComponentWebhooksTest, WaitsForEachOfItsDemands) {
  demanded_ = {KindOf<corev1::ConfigMap>::value, KindOf<corev1::Secret>::value,
               KindOf<corev1::Pod>::value};
  Start([](AdmissionCall& call) { SetVerdict(absl::OkStatus(), call); });
  EXPECT_EQ(webhooks_->Ready(), absl::OkStatus());
  for (const KindInfo& kind : demanded_) {
    const absl::Status why = absl::UnavailableError(StrCat(kind.plural, " are not listed yet"));
    cache_.SetStatus(kind, {DemandState::kPending, why, false});
    loop_.RunReady();
    EXPECT_EQ(webhooks_->Ready(), why);
    EXPECT_EQ(webhooks_->DemandsSettled(), why);
    cache_.SetState(kind, DemandState::kSynced);
    loop_.RunReady();
  }
}

TEST_F(ComponentWebhooksTest, StopsWhenItsHandlersHaveEnded) {
  Start([](AdmissionCall& call) { SetVerdict(absl::OkStatus(), call); });
  const absl::Time start = loop_.clock().TimeNow();
  EXPECT_EQ(webhooks_->Stop(start + absl::Hours(1)), absl::OkStatus());
  EXPECT_EQ(loop_.clock().TimeNow(), start) << "nothing runs";
  auto admitted = routes_.at("/hook").admit(10);
  const absl::Status early = webhooks_->Stop(start + absl::Seconds(2));
  EXPECT_TRUE(absl::IsDeadlineExceeded(early));
  EXPECT_THAT(std::string(early.message()),
              HasSubstr("component scope: 1 webhook handlers were still running"));
  EXPECT_EQ(loop_.clock().TimeNow(), start + absl::Seconds(2));
  loop_.PostAt(start + absl::Seconds(5), [&] { admitted = {}; });
  EXPECT_EQ(webhooks_->Stop(start + absl::Minutes(1)), absl::OkStatus());
  EXPECT_EQ(loop_.clock().TimeNow(), start + absl::Seconds(5));
}

// The list that a demand waits for may need the conversion.
TEST_F(ComponentWebhooksTest, ConvertsBeforeItIsReady) {
  const KindInfo& kind = KindOf<corev1::ConfigMap>::value;
  cache_.SetState(kind, DemandState::kPending, absl::UnavailableError("not listed yet"));
  Start(ConversionWebhook({}, "/hook"));
  const auto answer =
      Send(R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1",)"
           R"("request":{"uid":"u","desiredAPIVersion":"example.com/v1","objects":[]}})");
  loop_.RunFor(absl::Seconds(1));
  ASSERT_TRUE(answer->has_value());
  EXPECT_EQ((*answer)->code, 200) << (*answer)->body;
}

}  // namespace
}  // namespace mandate
