#include "manager/admission/review_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "manager/admission/testing_widgets.h"
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

ReviewAnswer Answer(const Webhook& webhook, std::string_view type, std::string body) {
  const ParsedReview read = ReadReviewBody(webhook, type, body);
  body.assign(body.size(), 'x');  // it is not needed any more
  return read.answer({});
}

TEST(ReadReviewBody, NamesTheFlowOfTheUser) {
  constexpr char kAnns[] =
      R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u",)"
      R"("userInfo":{"username":"ann"}}})";
  EXPECT_EQ(ReadReviewBody(Allowing(), kJson, kAnns).flow, "ann");
  constexpr char kCarts[] =
      R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u",)"
      R"("userInfo":{"username":"system:serviceaccount:shop:cart"}}})";
  EXPECT_EQ(ReadReviewBody(Allowing(), kJson, kCarts).flow, "system:serviceaccount:shop");
  EXPECT_EQ(ReadReviewBody(Allowing(), kJson, Admission("v1")).flow, "");
  EXPECT_EQ(ReadReviewBody(Allowing(), kJson, "{}").flow, std::nullopt);
  const Webhook conversion = ConversionWebhook(Conversions());
  EXPECT_EQ(ReadReviewBody(conversion, kJson, kConversion).flow, std::nullopt);
}

// The failurePolicy decides about an object that was not checked.
TEST(ReadReviewBody, AnErrorOfOursIsNoDenial) {
  const Webhook slow{.path = "/p", .handler = [](AdmissionCall& call) {
                       SetVerdict(absl::DeadlineExceededError("it took too long"), call);
                     }};
  const ReviewAnswer answer = Answer(slow, kJson, Admission("v1"));
  EXPECT_EQ(answer.check_error, absl::DeadlineExceededError("it took too long"));
  EXPECT_EQ(answer.body, "");
}

TEST(ReadReviewBody, AnswersInTheVersionOfTheReview) {
  for (const char* version : {"v1", "v1beta1"}) {
    const ReviewAnswer answer = Answer(Allowing(), kJson, Admission(version));
    EXPECT_THAT(answer.body, HasSubstr(StrCat("admission.k8s.io/", version, "\"")));
    EXPECT_THAT(answer.body, HasSubstr(R"("uid":"u","allowed":true)"));
    EXPECT_FALSE(answer.exception.has_value());
  }
}

TEST(ReadReviewBody, AnExceptionIsA500AndUndoesTheAnswer) {
  for (const bool known : {true, false}) {
    const Webhook webhook{.path = "/p", .handler = [known](AdmissionCall& call) {
                            SetVerdict(absl::OkStatus(), call);
                            call.Warn("half done");
                            if (known) throw std::runtime_error("broken");
                            throw 1;
                          }};
    const ReviewAnswer answer = Answer(webhook, kJson, Admission("v1beta1"));
    EXPECT_THAT(answer.body, HasSubstr("\"admission.k8s.io/v1beta1\""));
    EXPECT_EQ(answer.exception, known ? "broken" : "unknown");
    EXPECT_THAT(answer.body, HasSubstr(R"("uid":"u","allowed":false)"));
    EXPECT_THAT(answer.body, HasSubstr("\"code\":500"));
    EXPECT_THAT(answer.body, testing::Not(HasSubstr("half done")));
    EXPECT_THAT(answer.body, testing::Not(HasSubstr("broken"))) << "it is for the log";
  }
}

TEST(ReadReviewBody, ConvertsWithAConversionWebhook) {
  const ReviewAnswer answer = Answer(ConversionWebhook(Conversions()), kJson, kConversion);
  EXPECT_THAT(answer.body, HasSubstr(R"("uid":"u","convertedObjects":[])"));
  EXPECT_THAT(answer.body, HasSubstr(R"("status":"Success")"));
}

class ThrowingConverter : public Converter<HubWidget, SpokeWidget> {
 public:
  absl::Status ToHub(const SpokeWidget&, HubWidget&) override {
    throw std::runtime_error("broken");
  }
  absl::Status FromHub(const HubWidget&, SpokeWidget&) override { return absl::OkStatus(); }
};

TEST(ReadReviewBody, AnExceptionOfAConverterIsAFailure) {
  Conversions conversions;
  conversions.Add(std::make_shared<ThrowingConverter>());
  const ReviewAnswer answer = Answer(
      ConversionWebhook(std::move(conversions)), kJson,
      R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u",)"
      R"("desiredAPIVersion":"example.com/v1","objects":[)"
      R"({"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"a"}}]}})");
  EXPECT_EQ(answer.exception, "broken");
  EXPECT_THAT(answer.body, HasSubstr(R"("uid":"u","convertedObjects":[])"));
  EXPECT_THAT(answer.body, HasSubstr(R"("status":"Failure")"));
  EXPECT_THAT(answer.body, testing::Not(HasSubstr("broken"))) << "it is for the log";
}

TEST(ReadReviewBody, ReportsInTheReviewWhatIsWrongWithTheRequest) {
  const Webhook conversion = ConversionWebhook(Conversions());
  EXPECT_THAT(Answer(Allowing(), "text/plain", Admission("v1")).body,
              HasSubstr(R"(Content-Type is \"text/plain\"; it must be application/json)"));
  EXPECT_THAT(Answer(conversion, "text/plain", kConversion).body,
              HasSubstr(R"("status":"Failure","message":"Content-Type is)"));
  EXPECT_THAT(Answer(Allowing(), kJson, kConversion).body,
              HasSubstr("it must be an AdmissionReview"));
  EXPECT_THAT(Answer(conversion, kJson, Admission("v1")).body,
              HasSubstr("it must be a ConversionReview"));
}

}  // namespace
}  // namespace mandate
