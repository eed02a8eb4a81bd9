#include "manager/admission/review_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::HasSubstr;

constexpr char kJson[] = "application/json";

std::string Admission(std::string_view version) {
  return StrCat(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/)", version,
                R"(","request":{"uid":"u","operation":"CREATE"}})");
}
constexpr char kConversion[] =
    R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u",)"
    R"("desiredAPIVersion":"example.com/v1","objects":[]}})";

Webhook Allowing() {
  return {.path = "/p", .handler = [](AdmissionCall& call) { SetVerdict(absl::OkStatus(), call); }};
}

TEST(AnswerReview, AnswersInTheVersionOfTheReview) {
  for (const char* version : {"v1", "v1beta1"}) {
    const ReviewAnswer answer = AnswerReview(Allowing(), {}, kJson, Admission(version));
    EXPECT_THAT(answer.body, HasSubstr(StrCat("admission.k8s.io/", version, "\"")));
    EXPECT_THAT(answer.body, HasSubstr(R"("uid":"u","allowed":true)"));
    EXPECT_FALSE(answer.exception.has_value());
  }
}

TEST(AnswerReview, AnExceptionIsA500AndUndoesTheAnswer) {
  for (const bool known : {true, false}) {
    const Webhook webhook{.path = "/p", .handler = [known](AdmissionCall& call) {
                            SetVerdict(absl::OkStatus(), call);
                            call.Warn("half done");
                            if (known) throw std::runtime_error("broken");
                            throw 1;
                          }};
    const ReviewAnswer answer = AnswerReview(webhook, {}, kJson, Admission("v1"));
    EXPECT_EQ(answer.exception, known ? "broken" : "unknown");
    EXPECT_THAT(answer.body, HasSubstr(R"("uid":"u","allowed":false)"));
    EXPECT_THAT(answer.body, HasSubstr("\"code\":500"));
    EXPECT_THAT(answer.body, testing::Not(HasSubstr("half done")));
    EXPECT_THAT(answer.body, testing::Not(HasSubstr("broken"))) << "it is for the log";
  }
}

TEST(AnswerReview, ConvertsWithAConversionWebhook) {
  const ReviewAnswer answer =
      AnswerReview(ConversionWebhook(Conversions()), {}, kJson, kConversion);
  EXPECT_THAT(answer.body, HasSubstr(R"("uid":"u","convertedObjects":[])"));
  EXPECT_THAT(answer.body, HasSubstr(R"("status":"Success")"));
}

TEST(AnswerReview, ReportsInTheReviewWhatIsWrongWithTheRequest) {
  const Webhook conversion = ConversionWebhook(Conversions());
  EXPECT_THAT(AnswerReview(Allowing(), {}, "text/plain", Admission("v1")).body,
              HasSubstr(R"(Content-Type is \"text/plain\"; it must be application/json)"));
  EXPECT_THAT(AnswerReview(conversion, {}, "text/plain", kConversion).body,
              HasSubstr(R"("status":"Failure","message":"Content-Type is)"));
  EXPECT_THAT(AnswerReview(Allowing(), {}, kJson, kConversion).body,
              HasSubstr("it must be an AdmissionReview"));
  EXPECT_THAT(AnswerReview(conversion, {}, kJson, Admission("v1")).body,
              HasSubstr("it must be a ConversionReview"));
}

}  // namespace
}  // namespace mandate
