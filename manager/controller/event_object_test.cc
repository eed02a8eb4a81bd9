#include "manager/controller/event_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/names.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

using testing::HasSubstr;

const absl::Time kWall = absl::FromUnixMicros(1'700'000'000'123'456) + absl::Nanoseconds(789);
const EventReporter kReporter = {"scope-instance", "host_uuid"};

EventContent Content() {
  return {{"rbac.authorization.k8s.io/v1", "RoleBinding", "foo", "bar", "uid", "7"},
          EventType::kNormal,
          "Bound",
          "CreateRoleBinding",
          "Bound test in foo"};
}

TEST(EventObjectTest, AsJson) {
  eventsv1::Event event = EventObject(Content(), kReporter, kWall);
  EXPECT_THAT(event.metadata().name(), testing::MatchesRegex("bar\\.[0-9a-f]{16}"));
  event.mutable_metadata()->set_name("N");
  const auto json = EncodeObject(event, Encoding::kJson);
  ASSERT_TRUE(json.ok()) << json.status();
  for (const char* part :
       {R"("apiVersion":"events.k8s.io/v1")", R"("kind":"Event")", R"("namespace":"foo")",
        R"("eventTime":"2023-11-14T22:13:20.123456Z")", R"("reportingController":"scope-instance")",
        R"("reportingInstance":"host_uuid")", R"("action":"CreateRoleBinding")",
        R"("reason":"Bound")", R"("note":"Bound test in foo")", R"("type":"Normal")",
        R"("apiVersion":"rbac.authorization.k8s.io/v1")", R"("kind":"RoleBinding")",
        R"("uid":"uid")"}) {
    EXPECT_THAT(*json, HasSubstr(part));
  }
}

TEST(EventObjectTest, EventsOfClusterScopedObjectsAreInDefault) {
  EventContent content = Content();
  content.regarding.ns = "";
  const eventsv1::Event event = EventObject(content, kReporter, kWall);
  EXPECT_EQ(event.metadata().namespace_(), "default");
  EXPECT_EQ(event.regarding().namespace_(), "");
}

TEST(EventObjectTest, TheNameFollowsFromContentAndTime) {
  const auto name = [](const EventContent& content, absl::Time wall) {
    return EventObject(content, kReporter, wall).metadata().name();
  };
  std::set<std::string> names = {name(Content(), kWall)};
  EXPECT_EQ(*names.begin(), name(Content(), kWall));
  names.insert(name(Content(), kWall + absl::Microseconds(1)));
  for (std::string EventContent::*member :
       {&EventContent::reason, &EventContent::action, &EventContent::note}) {
    EventContent other = Content();
    other.*member += "x";
    names.insert(name(other, kWall));
  }
  EventContent warning = Content();
  warning.type = EventType::kWarning;
  names.insert(name(warning, kWall));
  EXPECT_EQ(names.size(), 6u);
  EventContent later = Content();
  later.regarding.resource_version = "8";
  EXPECT_EQ(later.SeriesKey(), Content().SeriesKey());
}

TEST(EventObjectTest, NamesAreInLowerCase) {
  EventContent content = Content();
  content.regarding.name = "AtoZ";
  EXPECT_THAT(EventObject(content, kReporter, kWall).metadata().name(),
              testing::StartsWith("atoz."));
}

// Roles may have names that are invalid for events.
TEST(EventObjectTest, NamesAreValidWhateverTheObjectsNameIs) {
  for (const std::string& name :
       {std::string("system:controller:foo"), std::string("Upper.Case"), std::string("-a-"),
        std::string("a..b"), std::string("a.-b"), std::string("a-.b"), std::string("..."),
        std::string("-"), std::string(""), std::string("\xc3\xa4:x"), std::string(300, 'a'),
        std::string(235, 'a') + "..", std::string(236, ':')}) {
    EventContent content = Content();
    content.regarding.name = name;
    const std::string event = EventObject(content, kReporter, kWall).metadata().name();
    EXPECT_TRUE(CheckDnsSubdomain(event).ok()) << name << " -> " << event;
  }
}

TEST(EventObjectTest, TextsAreCutAtCharacters) {
  EventContent content = Content();
  content.reason = std::string(200, 'r');
  content.action = std::string(200, 'a');
  content.note = std::string(1023, 'n') + "\xc3\xa4" + "rest";
  const EventContent limited = TruncateToLimits(content);
  EXPECT_EQ(limited.reason.size(), 128u);
  EXPECT_EQ(limited.action.size(), 128u);
  EXPECT_EQ(limited.note, std::string(1023, 'n'));
  EXPECT_EQ(TruncateToLimits(Content()), Content());
}

TEST(EventObjectTest, References) {
  rbacv1::RoleBinding binding;
  binding.mutable_metadata()->set_namespace_("foo");
  binding.mutable_metadata()->set_name("bar");
  binding.mutable_metadata()->set_uid("uid");
  binding.mutable_metadata()->set_resourceversion("7");
  EXPECT_EQ(RefTo(binding), Content().regarding);
  const auto raw = ParseRawObject(*EncodeObject(binding, Encoding::kProtobuf), Encoding::kProtobuf);
  ASSERT_TRUE(raw.ok());
  EXPECT_EQ(RefTo(KindOf<rbacv1::RoleBinding>::value, **raw), Content().regarding);
}

TEST(EventRequestTest, CreatesAndRepeats) {
  eventsv1::Event event;
  event.mutable_metadata()->set_namespace_("n");
  event.mutable_metadata()->set_name("x");
  event.set_note("why");
  const RestRequest creation = EventCreation(event);
  EXPECT_EQ(creation.method, "POST");
  EXPECT_EQ(creation.target, "/apis/events.k8s.io/v1/namespaces/n/events");
  EXPECT_TRUE(creation.idempotent);
  const auto sent = DecodeObject<eventsv1::Event>(creation.body, Encoding::kJson);
  ASSERT_TRUE(sent.ok()) << sent.status();
  EXPECT_EQ(sent->note(), "why");
  const RestRequest repetition = EventRepetition(event, 2, kWall);
  EXPECT_EQ(repetition.method, "PATCH");
  EXPECT_EQ(repetition.target, "/apis/events.k8s.io/v1/namespaces/n/events/x");
  EXPECT_EQ(repetition.content_type, "application/merge-patch+json");
  EXPECT_TRUE(repetition.idempotent);
  EXPECT_EQ(repetition.body,
            R"({"series":{"count":2,"lastObservedTime":"2023-11-14T22:13:20.123456Z"}})");
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
    bool transient, server_unavailable;
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
    EXPECT_EQ(IsServerUnavailable(c.status), c.server_unavailable);
  }
}

}  // namespace
}  // namespace mandate
