#include "manager/controller/event_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

using testing::HasSubstr;

eventsv1::Event Event() {
  eventsv1::Event event;
  event.mutable_metadata()->set_namespace_("n");
  event.mutable_metadata()->set_name("x");
  event.set_note("why");
  return event;
}

TEST(EventRequestTest, CreatesAndRepeats) {
  const RestRequest creation = EventCreation(Event());
  EXPECT_EQ(creation.method, "POST");
  EXPECT_EQ(creation.target, "/apis/events.k8s.io/v1/namespaces/n/events");
  EXPECT_TRUE(creation.idempotent);
  const auto sent = DecodeObject<eventsv1::Event>(creation.body, Encoding::kJson);
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(sent->note(), "why");
  const RestRequest repetition = EventRepetition(Event(), 7, absl::UnixEpoch());
  EXPECT_EQ(repetition.method, "PATCH");
  EXPECT_EQ(repetition.target, "/apis/events.k8s.io/v1/namespaces/n/events/x");
  EXPECT_EQ(repetition.content_type, "application/merge-patch+json");
  EXPECT_TRUE(repetition.idempotent);
  EXPECT_THAT(repetition.body, HasSubstr(R"("count":7)"));
}

TEST(EventRequestTest, ErrorsThatAreRetried) {
  const auto by_webhook = [](int code) {
    return StatusFromResponse(
        code,
        StrCat(R"({"kind":"Status","code":)", code,
               R"(,"message":"admission webhook \"a.example.com\" denied the request: no"})"));
  };
  const struct {
    absl::Status status;
    bool transient, of_the_server;
  } kCases[] = {
      {absl::OkStatus(), false, false},
      {absl::UnavailableError("connection refused"), true, true},
      {StatusFromResponse(503, ""), true, true},
      {StatusFromResponse(429, ""), true, true},
      {absl::UnauthenticatedError("no token"), true, true},
      {absl::DeadlineExceededError("slow"), true, false},
      {StatusFromResponse(500, "failed calling webhook"), true, false},
      {by_webhook(429), true, false},
      {by_webhook(503), true, false},
      {StatusFromResponse(403, ""), false, false},
      {StatusFromResponse(422, ""), false, false},
      {StatusFromResponse(404, ""), false, false},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.status.ToString());
    EXPECT_EQ(IsTransient(c.status), c.transient);
    EXPECT_EQ(IsOfTheServer(c.status), c.of_the_server);
  }
}

}  // namespace
}  // namespace mandate
