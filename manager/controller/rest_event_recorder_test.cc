#include "manager/controller/rest_event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "manager/controller/testing/event_recorder_fixture.h"

namespace mandate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(RestEventRecorderTest, CreatesAnEvent) {
  Record();
  EXPECT_TRUE(requests_.empty());  // never inside the call
  const auto requests = Take();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].target, "/apis/events.k8s.io/v1/namespaces/default/events");
  const eventsv1::Event event = Decode(requests[0]);
  EXPECT_EQ(event.reportingcontroller(), "scope");
  EXPECT_EQ(event.reportinginstance(), "host_uuid");
  EXPECT_EQ(event.regarding().uid(), "uid");
  EXPECT_EQ(Count("created"), 1);
}

TEST_F(RestEventRecorderTest, AnEventIsInTheNamespaceOfItsObject) {
  Record("x", In("foo"));
  EXPECT_EQ(Take()[0].target, "/apis/events.k8s.io/v1/namespaces/foo/events");
}

TEST_F(RestEventRecorderTest, RepetitionsBecomeASeries) {
  Record();
  const std::string name = Decode(Take()[0]).metadata().name();
  Record();
  auto requests = Take();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].method, "PATCH");
  EXPECT_EQ(requests[0].target, "/apis/events.k8s.io/v1/namespaces/default/events/" + name);
  EXPECT_EQ(requests[0].content_type, "application/merge-patch+json");
  EXPECT_THAT(requests[0].body, StartsWith(R"({"series":{"count":2,"lastObservedTime":")"));
  // The third and later ones wait for the period and are reported together.
  for (int i = 0; i < 10; ++i) Record();
  EXPECT_TRUE(Take().empty());
  loop_.RunFor(absl::Seconds(30));
  requests = Take();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_THAT(requests[0].body, HasSubstr(R"("count":12)"));
  EXPECT_EQ(Count("created"), 1);
  EXPECT_EQ(Count("updated"), 2);
}

TEST_F(RestEventRecorderTest, ARepetitionBeforeTheFirstIsSentIsASeriesToo) {
  Record();
  Record();
  const auto requests = Take();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_THAT(requests[1].body, HasSubstr(R"("count":2)"));
}

TEST_F(RestEventRecorderTest, AStormIsOneCreateAndFewUpdates) {
  for (int second = 0; second < 120; ++second) {
    for (int i = 0; i < 50; ++i) Record();
    loop_.RunFor(absl::Seconds(1));
  }
  loop_.RunFor(absl::Minutes(1));
  EXPECT_LE(requests_.size(), 7u);
  EXPECT_THAT(requests_.back().body, HasSubstr(R"("count":6000)"));
}

TEST_F(RestEventRecorderTest, DifferentEventsHaveSeriesOfTheirOwn) {
  Record("one");
  Record("two");
  recorder_->Record(kObject, EventType::kWarning, "Bound", "Bind", "one");
  ObjectRef other = kObject;
  other.uid = "another";
  Record("one", other);
  const auto requests = Take();
  ASSERT_EQ(requests.size(), 4u);
  for (const RestRequest& request : requests) EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(Decode(requests[0]).note(), "one");  // in order
  EXPECT_EQ(Decode(requests[1]).note(), "two");
}

TEST_F(RestEventRecorderTest, ASeriesEndsAfterSixQuietMinutes) {
  Record();
  Take();
  loop_.RunFor(absl::Minutes(5));
  Record();
  EXPECT_EQ(Take()[0].method, "PATCH");
  loop_.RunFor(absl::Minutes(6) + absl::Seconds(1));
  Record();
  EXPECT_EQ(Take()[0].method, "POST");
}

TEST_F(RestEventRecorderTest, AnAlreadyCreatedEventIsNotAnError) {
  int tries = 0;
  Serve([&](const RestRequest&) -> absl::StatusOr<HttpResponse> {
    if (++tries == 1) return absl::UnavailableError("reply lost");
    return StatusFromResponse(409,
                              R"({"kind":"Status","apiVersion":"v1","reason":"AlreadyExists"})");
  });
  Record();
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(Count("created"), 1);
  EXPECT_EQ(Count("failed"), 0);
}

TEST_F(RestEventRecorderTest, AnEventThatExpiredIsBegunAnew) {
  Record();
  const std::string name = Decode(Take()[0]).metadata().name();
  Serve([](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
    if (request.method == "PATCH") return StatusFromResponse(404, "");
    return FakeRestClient::Json(200, "");
  });
  Record();
  const auto requests = Take();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[1].method, "POST");
  EXPECT_NE(Decode(requests[1]).metadata().name(), name);
}

TEST_F(RestEventRecorderTest, CallsThatDoNotFitAreDropped) {
  options_.max_queue = 10;
  RecordMany(25);
  EXPECT_EQ(Count("dropped"), 15);
  EXPECT_EQ(Take().size(), 10u);
}

TEST_F(RestEventRecorderTest, EventsThatDoNotFitAreDropped) {
  options_.max_queue = 10;
  Answer(503);
  for (int i = 0; i < 25; ++i) {
    Record(std::to_string(i));
    loop_.RunReady();
  }
  EXPECT_EQ(Count("dropped"), 15);
}

TEST_F(RestEventRecorderTest, TheOldestSeriesIsForgottenWhenThereAreTooMany) {
  options_.max_series = 2;
  for (const char* note : {"one", "two", "three"}) {
    Record(note);
    EXPECT_EQ(Take()[0].method, "POST");
  }
  Record("three");
  EXPECT_EQ(Take()[0].method, "PATCH");
  Record("one");
  EXPECT_EQ(Take()[0].method, "POST");
  EXPECT_EQ(Count("dropped"), 0);
}

TEST_F(RestEventRecorderTest, FlushWaitsForAll) {
  Record("one");
  Record("two");
  Flush();
  EXPECT_FALSE(flushed_);
  EXPECT_TRUE(loop_.RunUntil([&] { return flushed_; }));
  EXPECT_EQ(requests_.size(), 2u);
  // This includes the observations that a series was holding back.
  Record("two");
  Take();
  Record("two");
  Flush();
  EXPECT_TRUE(loop_.RunUntil([&] { return flushed_; }, absl::Seconds(1)));
  EXPECT_THAT(requests_.back().body, HasSubstr(R"("count":3)"));
}

TEST_F(RestEventRecorderTest, FlushHasADeadline) {
  for (const int code : {503, 500}) {
    SCOPED_TRACE(code);
    Start();
    Answer(code);
    Record();
    const absl::Time start = loop_.clock().TimeNow();
    Flush(start + absl::Seconds(5));
    EXPECT_TRUE(loop_.RunUntil([&] { return flushed_; }));
    EXPECT_EQ(loop_.clock().TimeNow(), start + absl::Seconds(5));
  }
}

TEST_F(RestEventRecorderTest, FlushSendsEventsThatWaitForARetry) {
  Answer(500);
  Record();
  loop_.RunFor(absl::Milliseconds(100));
  Answer(201);
  Flush();
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_TRUE(flushed_);
  EXPECT_EQ(Count("created"), 1);
}

TEST_F(RestEventRecorderTest, EachFlushHasItsOwnDeadline) {
  const auto in = [&](absl::Duration wait) { return loop_.clock().TimeNow() + wait; };
  Record("one");
  Flush(in(absl::Seconds(5)));
  EXPECT_TRUE(loop_.RunUntil([&] { return flushed_; }, absl::Seconds(1)));
  client_.HandleLate([](const RestRequest&, const FakeRestClient::Reply&) {});
  Record();
  Flush(in(absl::Seconds(9)));
  loop_.RunFor(absl::Seconds(8));
  EXPECT_FALSE(flushed_);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(flushed_);
}

TEST_F(RestEventRecorderTest, DestroyedWithRequestsAndTimersUnderWay) {
  Record("one");
  Record("two");
  Flush();
  loop_.RunReady();
  EXPECT_FALSE(flushed_);
  recorder_.reset();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(requests_.size(), 2u);
  EXPECT_TRUE(flushed_);
}

TEST_F(RestEventRecorderTest, OptionsAreChecked) {
  RestEventRecorder::Options options;
  EXPECT_TRUE(absl::IsInvalidArgument(RestEventRecorder::Create(options).status()));
  options.client = &client_;
  options.metrics = &metrics_;
  EXPECT_TRUE(absl::IsInvalidArgument(RestEventRecorder::Create(options).status()));
  options.instance = "host_uuid";
  EXPECT_TRUE(RestEventRecorder::Create(options).ok());
}

}  // namespace
}  // namespace mandate
