#include "manager/admission/admission_call.h"

#include <gtest/gtest.h>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

TEST(AdmissionCall, CollectsWarningsAndAuditAnnotations) {
  AdmissionRequest request;
  request.set_dryrun(true);
  request.mutable_userinfo()->set_username("ann");
  AdmissionCall call({}, request);
  EXPECT_TRUE(call.dry_run());
  EXPECT_EQ(call.user().username(), "ann");
  call.Warn("careful");
  call.Warn("again");
  call.AddAuditAnnotation("rule", "first");
  call.AddAuditAnnotation("rule", "last");
  EXPECT_EQ(call.response().warnings_size(), 2);
  EXPECT_EQ(call.response().auditannotations().at("rule"), "last");
  EXPECT_FALSE(call.response().allowed()) << "before a verdict";
}

TEST(SetVerdict, AnswersAsControllerRuntime) {
  const struct {
    absl::Status status;
    bool allowed;
    int code;
    const char* reason;
    const char* message;
  } kCases[] = {
      {absl::OkStatus(), true, 200, "", ""},
      {absl::InvalidArgumentError("no such color"), false, 403, "Forbidden", "no such color"},
      {StatusFromResponse(409,
                          R"({"kind":"Status","code":409,"reason":"Conflict","message":"old"})"),
       false, 409, "Conflict", "old"},
  };
  for (const auto& c : kCases) {
    const AdmissionRequest request;
    AdmissionCall call({}, request);
    SetVerdict(c.status, call);
    const AdmissionResponse& response = call.response();
    EXPECT_EQ(response.allowed(), c.allowed) << c.status;
    EXPECT_EQ(response.status().code(), c.code) << c.status;
    EXPECT_EQ(response.status().reason(), c.reason) << c.status;
    EXPECT_EQ(response.status().message(), c.message) << c.status;
  }
}

// Our own slowness says nothing about the object.
TEST(SetVerdict, AnErrorOfOursIsUnanswered) {
  const auto api = [](int code) {
    return StatusFromResponse(code,
                              StrCat(R"({"kind":"Status","status":"Failure","code":)", code, "}"));
  };
  const struct {
    absl::Status status;
    bool is_check_error;
  } kCases[] = {
      {absl::OkStatus(), false},
      {absl::PermissionDeniedError("no"), false},
      {absl::ResourceExhaustedError("more than 1000 reviews"), false},
      {absl::InternalError("bad"), false},
      {absl::UnavailableError("the watch is down"), true},
      {absl::DeadlineExceededError("subjectaccessreviews took too long"), true},
      {absl::CancelledError("stopped"), true},
      {api(403), false},
      {api(409), false},
      {api(429), true},
      {api(500), true},
      {api(504), true},
  };
  for (const auto& c : kCases) {
    const AdmissionRequest request;
    AdmissionCall call({}, request);
    SetVerdict(c.status, call);
    EXPECT_EQ(call.check_error(), c.is_check_error ? c.status : absl::OkStatus()) << c.status;
    EXPECT_EQ(call.response().allowed(), c.status.ok()) << c.status;
    if (c.is_check_error) {
      EXPECT_GE(call.response().status().code(), 500) << c.status;
      EXPECT_EQ(call.response().status().reason(), "") << c.status;
    }
  }
}

TEST(SetErrorResponse, DeniesWithTheCode) {
  const AdmissionRequest request;
  AdmissionCall call({}, request);
  call.response().set_allowed(true);
  SetErrorResponse(400, absl::InvalidArgumentError("no object"), call);
  EXPECT_FALSE(call.response().allowed());
  EXPECT_EQ(call.response().status().code(), 400);
  EXPECT_EQ(call.response().status().message(), "no object");
}

}  // namespace
}  // namespace mandate
