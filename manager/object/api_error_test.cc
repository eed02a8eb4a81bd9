#include "manager/object/api_error.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/object/envelope.h"

namespace mandate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Body(int code, std::string_view reason, std::string_view details = "{}") {
  return StrCat(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)",
                R"("message":"the server's words","reason":")", reason, R"(","details":)", details,
                R"(,"code":)", code, "}");
}

TEST(ApiErrorTest, GivesTheMostSpecificCode) {
  const struct {
    int http_code;
    const char* reason;
    absl::StatusCode code;
  } kCases[] = {
      {400, "BadRequest", absl::StatusCode::kInvalidArgument},
      {401, "Unauthorized", absl::StatusCode::kUnauthenticated},
      {403, "Forbidden", absl::StatusCode::kPermissionDenied},
      {404, "NotFound", absl::StatusCode::kNotFound},
      {405, "MethodNotAllowed", absl::StatusCode::kInvalidArgument},
      {408, "Timeout", absl::StatusCode::kDeadlineExceeded},
      {409, "AlreadyExists", absl::StatusCode::kAlreadyExists},
      {409, "Conflict", absl::StatusCode::kAborted},
      {410, "Expired", absl::StatusCode::kOutOfRange},
      {410, "Gone", absl::StatusCode::kOutOfRange},
      {415, "UnsupportedMediaType", absl::StatusCode::kInvalidArgument},
      {422, "Invalid", absl::StatusCode::kInvalidArgument},
      {429, "TooManyRequests", absl::StatusCode::kResourceExhausted},
      {500, "InternalError", absl::StatusCode::kInternal},
      {500, "ServerTimeout", absl::StatusCode::kUnavailable},
      {501, "", absl::StatusCode::kUnimplemented},
      {502, "", absl::StatusCode::kUnavailable},
      {503, "ServiceUnavailable", absl::StatusCode::kUnavailable},
      {504, "Timeout", absl::StatusCode::kDeadlineExceeded},
      {200, "", absl::StatusCode::kInternal},
      {302, "", absl::StatusCode::kInternal},
  };
  for (const auto& c : kCases) {
    const absl::Status status = StatusFromResponse(c.http_code, Body(c.http_code, c.reason));
    EXPECT_EQ(status.code(), c.code) << c.http_code << " " << c.reason;
    EXPECT_EQ(AsStd(status.message()), "the server's words");
    EXPECT_EQ(HttpCode(status), c.http_code);
    // Without a body only the code is known.
    if (std::string(c.reason) != "AlreadyExists" && std::string(c.reason) != "ServerTimeout") {
      EXPECT_EQ(StatusFromResponse(c.http_code, "").code(), c.code) << c.http_code;
    }
  }
}

TEST(ApiErrorTest, PredicatesTellApartWhatACodeLumps) {
  struct Predicate {
    const char* name;
    bool (*holds)(const absl::Status&);
    int code;
    const char* reason;
  };
  const Predicate kPredicates[] = {
      {"IsNotFound", IsNotFound, 404, "NotFound"},
      {"IsAlreadyExists", IsAlreadyExists, 409, "AlreadyExists"},
      {"IsConflict", IsConflict, 409, "Conflict"},
      {"IsForbidden", IsForbidden, 403, "Forbidden"},
      {"IsUnauthorized", IsUnauthorized, 401, "Unauthorized"},
      {"IsGone", IsGone, 410, "Expired"},
      {"IsInvalid", IsInvalid, 422, "Invalid"},
      {"IsBadRequest", IsBadRequest, 400, "BadRequest"},
      {"IsTooManyRequests", IsTooManyRequests, 429, "TooManyRequests"},
  };
  for (const Predicate& made : kPredicates) {
    const absl::Status status = StatusFromResponse(made.code, Body(made.code, made.reason));
    for (const Predicate& asked : kPredicates) {
      EXPECT_EQ(asked.holds(status), &asked == &made) << asked.name << " of " << made.reason;
      EXPECT_FALSE(asked.holds(absl::OkStatus())) << asked.name;
      EXPECT_FALSE(asked.holds(absl::PermissionDeniedError("the guard's"))) << asked.name;
    }
  }
}

TEST(ApiErrorTest, KnowsATerminatingNamespaceByItsCause) {
  EXPECT_TRUE(IsNamespaceTerminating(StatusFromResponse(
      403, Body(403, "Forbidden", R"({"causes":[{"reason":"NamespaceTerminating"}]})"))));
  EXPECT_FALSE(IsNamespaceTerminating(StatusFromResponse(403, Body(403, "Forbidden"))));
}

TEST(ApiErrorTest, KnowsWhetherAnAnswerIsAboutAnObject) {
  const absl::Status gone = StatusFromResponse(404, Body(404, "NotFound", R"({"name":"a"})"));
  EXPECT_TRUE(IsServerErrorAbout(gone, "a"));
  EXPECT_FALSE(IsServerErrorAbout(gone, "b"));
  EXPECT_FALSE(IsServerErrorAbout(StatusFromResponse(404, Body(404, "NotFound")), "a"));
  EXPECT_FALSE(IsServerErrorAbout(absl::NotFoundError("a"), "a"));
}

TEST(ApiErrorTest, AWebhooksAnswerIsNotTheServersOwn) {
  ApiStatusProto denied;
  denied.set_code(404);
  denied.set_message(R"(admission webhook "h.example.com" denied the request: NotFound)");
  denied.mutable_details()->set_name("a");
  EXPECT_TRUE(IsDeniedByWebhook(StatusFromApi(denied)));
  EXPECT_FALSE(IsServerErrorAbout(StatusFromApi(denied), "a"));
  denied.set_message(R"(pods "admission webhook" not found)");
  EXPECT_FALSE(IsDeniedByWebhook(StatusFromApi(denied)));
  EXPECT_TRUE(IsServerErrorAbout(StatusFromApi(denied), "a"));
  EXPECT_FALSE(IsDeniedByWebhook(absl::NotFoundError("a")));
}

TEST(ApiErrorTest, KnowsAnOutdatedWrite) {
  const struct {
    int code;
    const char* reason;
    bool outdated;
  } rows[] = {
      {404, "NotFound", true}, {409, "Conflict", true},       {409, "AlreadyExists", false},
      {410, "Expired", false}, {500, "InternalError", false},
  };
  for (const auto& row : rows) {
    const absl::Status status =
        StatusFromResponse(row.code, Body(row.code, row.reason, R"({"name":"a"})"));
    EXPECT_EQ(IsOutdated(status, "a"), row.outdated) << row.reason;
    EXPECT_FALSE(IsOutdated(status, "b")) << row.reason;
  }
  EXPECT_FALSE(IsOutdated(absl::OkStatus(), ""));
}

TEST(ApiErrorTest, SaysHowLongToWait) {
  const std::string body = Body(429, "TooManyRequests", R"({"retryAfterSeconds":3})");
  EXPECT_EQ(RetryAfter(StatusFromResponse(429, body)), absl::Seconds(3));
  EXPECT_EQ(RetryAfter(StatusFromResponse(429, body, absl::Milliseconds(1500))),
            absl::Milliseconds(1500));
  EXPECT_EQ(RetryAfter(StatusFromResponse(429, "", absl::ZeroDuration())), absl::ZeroDuration());
  EXPECT_EQ(RetryAfter(StatusFromResponse(429, Body(429, "TooManyRequests"))), std::nullopt);
  EXPECT_EQ(RetryAfter(absl::UnavailableError("ours")), std::nullopt);
  ApiStatusProto event;
  event.set_code(429);
  event.mutable_details()->set_retryafterseconds(std::numeric_limits<int32_t>::max());
  EXPECT_EQ(RetryAfter(StatusFromApi(event)), kMaxRetryAfter);
  EXPECT_EQ(RetryAfter(StatusFromResponse(429, "", absl::Hours(24))), kMaxRetryAfter);

  const absl::Status later = WithRetryAfter(StatusFromResponse(429, body), absl::Seconds(1));
  EXPECT_EQ(RetryAfter(later), absl::Seconds(1));
  EXPECT_TRUE(IsTooManyRequests(later));
  EXPECT_EQ(RetryAfter(WithRetryAfter(absl::UnavailableError("ours"), absl::Seconds(1))),
            absl::Seconds(1));
}

TEST(ApiErrorTest, KeepsTheServersStatus) {
  const auto status =
      ApiStatus(StatusFromResponse(422, Body(422, "Invalid", R"({"kind":"Pod","name":"p"})")));
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->reason(), "Invalid");
  EXPECT_EQ(status->details().name(), "p");
  EXPECT_FALSE(ApiStatus(absl::InternalError("ours")).has_value());
  EXPECT_EQ(HttpCode(absl::OkStatus()), 0);
}

// Users of the server choose the names that it repeats.
TEST(ApiErrorTest, KeepsTheBeginningOfALongText) {
  ApiStatusProto proto;
  proto.set_code(403);
  proto.set_message(std::string(300'000, 'm'));
  for (int i = 0; i < 1000; ++i) {
    auto& cause = *proto.mutable_details()->add_causes();
    cause.set_reason(i == 0 ? "NamespaceTerminating" : "Other");
    cause.set_message(std::string(10'000, 'c'));
  }
  const absl::Status status = StatusFromApi(proto);
  EXPECT_EQ(AsStd(status.message()), std::string(kMaxErrorMessage, 'm') + "… (300000 bytes)");
  EXPECT_EQ(ApiStatus(status)->message(), AsStd(status.message()));
  EXPECT_TRUE(IsNamespaceTerminating(status));
  EXPECT_LT(ApiStatus(status)->ByteSizeLong(), 120'000u);
}

TEST(ApiErrorTest, ReadsProtobuf) {
  ApiStatusProto proto;
  proto.set_status("Failure");
  proto.set_message("m");
  proto.set_reason("AlreadyExists");
  const std::string raw = proto.SerializeAsString();
  const absl::Status status =
      StatusFromResponse(409, WriteEnvelope({.api_version = "v1", .kind = "Status", .raw = raw}));
  EXPECT_TRUE(IsAlreadyExists(status));
  EXPECT_EQ(AsStd(status.message()), "m");
  // An object of another kind is not a Status.
  EXPECT_THAT(std::string(StatusFromResponse(
                              409, WriteEnvelope({.api_version = "v1", .kind = "Pod", .raw = raw}))
                              .message()),
              HasSubstr("HTTP 409"));
}

// A watch that is denied reads no more than a part of a large reason.
TEST(ApiErrorTest, KeepsTheTextOfAStatusThatWasCut) {
  ApiStatusProto proto;
  proto.set_status("Failure");
  proto.set_message("pods is forbidden: " + std::string(200'000, 'x'));
  proto.set_reason("Forbidden");
  const std::string body =
      WriteEnvelope({.api_version = "v1", .kind = "Status", .raw = proto.SerializeAsString()});
  const absl::Status status = StatusFromResponse(403, body.substr(0, 64 << 10));
  EXPECT_TRUE(IsForbidden(status));
  EXPECT_THAT(std::string(status.message()),
              StartsWith("the server responded with HTTP 403: pods is forbidden: xxx"));
  EXPECT_LT(status.message().size(), 600u);
}

TEST(ApiErrorTest, KeepsAnExcerptOfAnyOtherBody) {
  const absl::Status html = StatusFromResponse(502, "<html>\n\n<h1>Bad\tGateway</h1>\x01\xFF");
  EXPECT_EQ(AsStd(html.message()),
            "the server responded with HTTP 502: <html> <h1>Bad Gateway</h1> ?");
  EXPECT_EQ(ApiReason(html), "Unknown");
  EXPECT_LT(StatusFromResponse(500, std::string(100000, 'x')).message().size(), 600u);
  EXPECT_EQ(AsStd(StatusFromResponse(404, "").message()),
            "the server responded with HTTP 404 without a body");
  // JSON that is not a Status is treated as text.
  EXPECT_THAT(std::string(StatusFromResponse(404, R"({"error":"x"})").message()),
              HasSubstr(R"(HTTP 404: {"error":"x"})"));
  EXPECT_TRUE(IsNotFound(StatusFromResponse(404, "404 page not found\n")));
}

TEST(ApiErrorTest, FromAStatusAtHand) {
  ApiStatusProto proto;
  proto.set_code(410);
  proto.set_message("too old resource version: 1 (9)");
  const absl::Status status = StatusFromApi(proto);
  EXPECT_TRUE(IsGone(status));
  EXPECT_EQ(AsStd(status.message()), "too old resource version: 1 (9)");
  EXPECT_FALSE(StatusFromApi(ApiStatusProto()).ok());
}

}  // namespace
}  // namespace mandate
