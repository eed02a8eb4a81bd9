#include "testing/apiserver/access/admission.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "testing/apiserver/access/object_table.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() {
    write_->request = &request_;
    write_->operation = "CREATE";
    write_->version = "v1";
    write_->kind = "ConfigMap";
    write_->resource = "configmaps";
    write_->object = ParseJson(R"({"metadata":{"name":"a"}})").value();
  }

  // A configuration with one webhook, `name`, at https://<name>/.
  void Configure(const std::string& kind, const std::string& name, const std::string& more = "") {
    objects_.Put({"admissionregistration.k8s.io", kind + "webhookconfigurations"},
                 R"({"metadata":{"name":"c-)" + name + R"("},"webhooks":[{"name":")" + name +
                     R"(","sideEffects":"None","clientConfig":{"url":"https://)" + name +
                     R"(/"},"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],)" +
                     R"("resources":["*"]}])" + more + "}]}");
  }
  // The members of its response besides the uid; "" never answers.
  void Answer(const std::string& name, const std::string& members) { answers_[name] = members; }
  static std::string Patch(const std::string& operations) {
    return R"("allowed":true,"patchType":"JSONPatch","patch":")" + absl::Base64Escape(operations) +
           "\"";
  }

  void Call(WebhookCall call, absl::AnyInvocable<void(absl::StatusOr<WebhookReply>) &&> done) {
    calls_.push_back(call.url);
    const std::string name = call.url.substr(8, call.url.find('/', 8) - 8);
    if (!answers_.contains(name)) {
      std::move(done)(absl::UnavailableError("connection refused"));
    } else if (answers_[name].empty()) {
      waiting_.push_back(std::move(done));
    } else {
      const Json::Value review = ParseJson(call.body).value();
      seen_.push_back(WriteJson(review["request"]["object"]["metadata"]));
      std::move(done)(WebhookReply{
          .code = 200,
          .body = StrCat(R"({"response":{"uid":")", review["request"]["uid"].asString(), R"(",)",
                         answers_[name], "}}")});
    }
  }

  // What comes out: the object's metadata, or the message of the refusal; "none yet".
  std::string Mutated() {
    const auto result = std::make_shared<std::string>("none yet");
    admission_.Mutate(write_, write_->object, [result](absl::StatusOr<Json::Value> object) {
      *result = object.ok() ? WriteJson((*object)["metadata"]) : Message(object.status());
    });
    loop_.RunReady();
    last_ = result;
    return *result;
  }
  std::string Validated() {
    const auto result = std::make_shared<std::string>("none yet");
    admission_.Validate(write_, [result](const absl::Status& status) {
      *result = status.ok() ? "ok" : Message(status);
    });
    loop_.RunReady();
    last_ = result;
    return *result;
  }
  static std::string Message(const absl::Status& status) {
    return ApiStatus(status) ? ApiStatus(status)->message() : "no Status";
  }

  SimulatedLoop loop_;
  ObjectTable objects_;
  Request request_;
  std::shared_ptr<WriteAttributes> write_ = std::make_shared<WriteAttributes>();
  std::map<std::string, std::string> answers_;
  std::vector<std::string> calls_, seen_;
  std::vector<absl::AnyInvocable<void(absl::StatusOr<WebhookReply>) &&>> waiting_;
  std::shared_ptr<std::string> last_;
  int uids_ = 0;
  Admission admission_{objects_, loop_,
                       [this](WebhookCall call, auto done) { Call(call, std::move(done)); },
                       [this] { return StrCat("uid-", ++uids_); }};
};

TEST_F(AdmissionTest, WithoutWebhooksNothingHappens) {
  EXPECT_EQ(Mutated(), R"({"name":"a"})");
  EXPECT_EQ(Validated(), "ok");
  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_THAT(request_.notes->annotations, IsEmpty());
}

TEST_F(AdmissionTest, MutatingOnesFollowEachOther) {
  Configure("mutating", "a");
  Configure("mutating", "b");
  Configure("mutating", "c");
  Answer("a", Patch(R"([{"op":"add","path":"/metadata/labels","value":{"a":"1"}}])"));
  Answer("b", R"("allowed":true)");
  Answer("c", Patch(R"([{"op":"add","path":"/metadata/labels/c","value":"2"}])"));
  EXPECT_EQ(Mutated(), R"({"labels":{"a":"1","c":"2"},"name":"a"})");
  EXPECT_THAT(seen_, ElementsAre(R"({"name":"a"})", R"({"labels":{"a":"1"},"name":"a"})",
                                 R"({"labels":{"a":"1"},"name":"a"})"));
  EXPECT_THAT(calls_, ElementsAre("https://a/?timeout=10s", "https://b/?timeout=10s",
                                  "https://c/?timeout=10s"));
  constexpr char kKey[] = "mutation.webhook.admission.k8s.io/round_0_index_";
  EXPECT_THAT(
      request_.notes->annotations,
      ElementsAre(
          Pair(StrCat(kKey, 0), R"({"configuration":"c-a","webhook":"a","mutated":true})"),
          Pair(StrCat(kKey, 1), R"({"configuration":"c-b","webhook":"b","mutated":false})"),
          Pair(StrCat(kKey, 2), R"({"configuration":"c-c","webhook":"c","mutated":true})")));
}

TEST_F(AdmissionTest, APatchMayMakeALaterSelectorMatch) {
  Configure("mutating", "a");
  Configure("mutating", "b", R"(,"objectSelector":{"matchLabels":{"a":"1"}})");
  Answer("a", R"("allowed":true)");
  Answer("b", R"("allowed":false)");
  EXPECT_EQ(Mutated(), R"({"name":"a"})");
  Answer("a", Patch(R"([{"op":"add","path":"/metadata/labels","value":{"a":"1"}}])"));
  EXPECT_EQ(Mutated(), "admission webhook \"b\" denied the request without explanation");
}

TEST_F(AdmissionTest, AMutatingOneMayRefuse) {
  Configure("mutating", "a");
  Configure("mutating", "b");
  Answer("a", R"("allowed":false,"status":{"message":"no way"})");
  EXPECT_EQ(Mutated(), "admission webhook \"a\" denied the request: no way");
  EXPECT_EQ(calls_.size(), 1u);
}

TEST_F(AdmissionTest, APatchThatDoesNotFitIsAnInternalError) {
  Configure("mutating", "a", R"(,"failurePolicy":"Ignore")");
  Answer("a", Patch(R"([{"op":"replace","path":"/nope/x","value":1}])"));
  EXPECT_THAT(Mutated(), HasSubstr("Internal error occurred: "));
  write_->object = Json::nullValue;
  write_->operation = "DELETE";
  EXPECT_EQ(Mutated(),
            "Internal error occurred: admission webhook \"a\" attempted to modify the object, "
            "which is not supported for this operation");
}

TEST_F(AdmissionTest, AnotherTypeOfPatchIsAFailureToCall) {
  Configure("mutating", "a");
  Answer("a",
         R"("allowed":true,"patchType":"Foo","patch":"W3sib3AiOiJyZW1vdmUiLCJwYXRoIjoiL2EifV0=")");
  EXPECT_EQ(Mutated(),
            "Internal error occurred: failed calling webhook \"a\": unsupported patch type "
            "\"Foo\"");
  Answer("a", R"("allowed":true,"patchType":"Foo","patch":"W10=")");
  EXPECT_EQ(Mutated(), R"({"name":"a"})");
}

TEST_F(AdmissionTest, ValidatingOnesAreAskedAllAtOnceAndTheFirstRefusalCounts) {
  Configure("validating", "a");
  Configure("validating", "b");
  Configure("validating", "c");
  Answer("a", "");
  Answer("b", R"("allowed":false,"status":{"message":"b"})");
  Answer("c", R"("allowed":false,"status":{"message":"c"})");
  EXPECT_EQ(Validated(), "none yet");
  EXPECT_EQ(calls_.size(), 3u);
  std::move(waiting_[0])(WebhookReply{.code = 200, .body = R"({"response":{"uid":"uid-1"}})"});
  EXPECT_EQ(*last_, "admission webhook \"b\" denied the request: b");
}

TEST_F(AdmissionTest, WarningsAndAnnotationsAreLeftWithTheRequest) {
  Configure("validating", "a");
  Answer("a", R"("allowed":true,"warnings":["w1","w2"],"auditAnnotations":{"k":"v"})");
  EXPECT_EQ(Validated(), "ok");
  EXPECT_THAT(request_.notes->warnings, ElementsAre("w1", "w2"));
  EXPECT_THAT(request_.notes->annotations, ElementsAre(Pair("a/k", "v")));
}

TEST_F(AdmissionTest, AFailureIsTheWebhooksPolicyToJudge) {
  Configure("validating", "a");
  const std::string failed =
      "Internal error occurred: failed calling webhook \"a\": failed to call webhook: Post "
      "\"https://a/?timeout=10s\": connection refused";
  EXPECT_EQ(Validated(), failed);
  Configure("mutating", "a");
  EXPECT_EQ(Mutated(), failed);

  Configure("validating", "a", R"(,"failurePolicy":"Ignore")");
  Configure("mutating", "a", R"(,"failurePolicy":"Ignore")");
  EXPECT_EQ(Validated(), "ok");
  EXPECT_EQ(Mutated(), R"({"name":"a"})");
  EXPECT_EQ(request_.notes
                ->annotations["failed-open.validating.webhook.admission.k8s.io/round_0_index_0"],
            "a");
  EXPECT_EQ(
      request_.notes->annotations["failed-open.mutation.webhook.admission.k8s.io/round_0_index_0"],
      "a");
}

TEST_F(AdmissionTest, AWebhookThatDoesNotAnswerTimesOut) {
  Configure("validating", "a", R"(,"timeoutSeconds":3)");
  Answer("a", "");
  Validated();
  loop_.RunFor(absl::Milliseconds(2999));
  EXPECT_EQ(*last_, "none yet");
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(*last_,
            "Internal error occurred: failed calling webhook \"a\": failed to call webhook: Post "
            "\"https://a/?timeout=3s\": context deadline exceeded");
  // Too late.
  std::move(waiting_[0])(WebhookReply{.code = 200, .body = R"({"response":{"uid":"uid-1"}})"});
  EXPECT_THAT(*last_, HasSubstr("context deadline exceeded"));
}

TEST_F(AdmissionTest, WhatComesTooLateForAnybodyIsDropped) {
  Configure("validating", "a");
  Answer("a", "");
  bool answered = false;
  {
    Admission brief(
        objects_, loop_, [this](WebhookCall call, auto done) { Call(call, std::move(done)); },
        [] { return "uid-1"; });
    brief.Validate(write_, [&](const absl::Status&) { answered = true; });
  }
  std::move(waiting_[0])(WebhookReply{.code = 200, .body = R"({"response":{"uid":"uid-1"}})"});
  loop_.RunFor(absl::Minutes(1));
  EXPECT_FALSE(answered);
}

TEST_F(AdmissionTest, ADryRunGoesOnlyToThoseWithoutSideEffects) {
  write_->dry_run = true;
  Configure("validating", "a");
  Answer("a", R"("allowed":true)");
  EXPECT_EQ(Validated(), "ok");
  Configure("validating", "b", R"(,"failurePolicy":"Ignore")");
  objects_.Put({"admissionregistration.k8s.io", "validatingwebhookconfigurations"},
               R"({"metadata":{"name":"c-b"},"webhooks":[{"name":"b","sideEffects":"Some",
                   "failurePolicy":"Ignore","clientConfig":{"url":"https://b/"},
                   "rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],
                             "resources":["*"]}]}]})");
  EXPECT_EQ(Validated(), "admission webhook \"b\" does not support dry run");
}

TEST_F(AdmissionTest, WhatIsNotSupportedRefuses) {
  Configure("mutating", "a", R"(,"matchConditions":[{"name":"m","expression":"true"}])");
  Configure("validating", "a", R"(,"matchConditions":[{"name":"m","expression":"true"}])");
  EXPECT_THAT(Mutated(), HasSubstr("matchConditions"));
  EXPECT_THAT(Validated(), HasSubstr("matchConditions"));
  EXPECT_THAT(calls_, IsEmpty());
}

}  // namespace
}  // namespace mandate::apiserver
