#include "manager/controller/rest_event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/controller/testing/fake_event_recorder.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/events_v1.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const ObjectRef kObject = {"operators.coreos.com/v1alpha1", "ScopeInstance", "", "a", "uid"};

class RestEventRecorderTest : public testing::Test {
 protected:
  RestEventRecorderTest() {
    client_.SetDelay([] { return absl::Milliseconds(1); });
    Answer(200);
  }
  void Start() {
    options_.client = &client_;
    options_.instance = "host_uuid";
    options_.metrics = &metrics_;
    options_.log = Logger(log_, loop_.clock());
    auto recorder = RestEventRecorder::Create(options_);
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    recorder_ = *std::move(recorder);
  }
  void Record(const std::string& note = "Bound", const ObjectRef& object = kObject) {
    recorder_->Eventf(object, EventType::kNormal, "Bound", "Bind", note);
  }
  std::vector<RestRequest> Take() {
    loop_.RunFor(absl::Seconds(1));
    return std::exchange(requests_, {});
  }
  double Count(const std::string& result) {
    return metrics_.Counter("mandate_events_total", "", {{"identity", "scope"}, {"result", result}})
        .Value();
  }
  void Serve(FakeRestClient::Handler server) {
    client_.Handle([this, server = std::move(server)](const RestRequest& request) {
      requests_.push_back(request);
      return server(request);
    });
  }
  void Answer(int code) {
    Serve([code](const RestRequest&) -> absl::StatusOr<HttpResponse> {
      if (code / 100 == 2) return FakeRestClient::Json(200, "");
      return StatusFromResponse(code, "");
    });
  }
  static eventsv1::Event Decode(const RestRequest& request) {
    auto event = DecodeObject<eventsv1::Event>(request.body, Encoding::kJson);
    EXPECT_TRUE(event.ok()) << event.status();
    return event.value_or(eventsv1::Event());
  }

  SimulatedLoop loop_;
  FakeRestClient client_{loop_, "scope"};
  std::vector<RestRequest> requests_;  // that the server has seen
  Metrics metrics_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  RestEventRecorder::Options options_;
  std::unique_ptr<RestEventRecorder> recorder_;
};

TEST_F(RestEventRecorderTest, CreatesAnEvent) {
  Start();
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

TEST_F(RestEventRecorderTest, NamespacedObjectsHaveTheirEventsBesideThem) {
  Start();
  ObjectRef object = kObject;
  object.ns = "foo";
  Record("x", object);
  EXPECT_EQ(Take()[0].target, "/apis/events.k8s.io/v1/namespaces/foo/events");
}

TEST_F(RestEventRecorderTest, RepetitionsBecomeASeries) {
  Start();
  Record();
  const std::string name = Decode(Take()[0]).metadata().name();
  Record();
  auto requests = Take();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].method, "PATCH");
  EXPECT_EQ(requests[0].target, "/apis/events.k8s.io/v1/namespaces/default/events/" + name);
  EXPECT_EQ(requests[0].content_type, "application/merge-patch+json");
  EXPECT_THAT(requests[0].body, StartsWith(R"({"series":{"count":2,"lastObservedTime":")"));
  // The third and further ones wait for the period, and are told together.
  for (int i = 0; i < 10; ++i) Record();
  EXPECT_TRUE(Take().empty());
  loop_.RunFor(absl::Seconds(30));
  requests = Take();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_THAT(requests[0].body, HasSubstr(R"("count":12)"));
  EXPECT_EQ(Count("created"), 1);
  EXPECT_EQ(Count("updated"), 2);
}

TEST_F(RestEventRecorderTest, AStormIsOneCreateAndFewUpdates) {
  Start();
  for (int second = 0; second < 120; ++second) {
    for (int i = 0; i < 50; ++i) Record();
    loop_.RunFor(absl::Seconds(1));
  }
  loop_.RunFor(absl::Minutes(1));
  EXPECT_LE(requests_.size(), 7u);
  EXPECT_THAT(requests_.back().body, HasSubstr(R"("count":6000)"));
}

TEST_F(RestEventRecorderTest, OtherEventsAreTheirOwn) {
  Start();
  Record("one");
  Record("two");
  recorder_->Eventf(kObject, EventType::kWarning, "Bound", "Bind", "one");
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
  Start();
  Record();
  Take();
  loop_.RunFor(absl::Minutes(5));
  Record();
  EXPECT_EQ(Take()[0].method, "PATCH");
  loop_.RunFor(absl::Minutes(6) + absl::Seconds(1));
  Record();
  EXPECT_EQ(Take()[0].method, "POST");
}

TEST_F(RestEventRecorderTest, AServerThatIsDownIsTriedAgain) {
  Start();
  Answer(503);
  Record("one");
  Record("two");
  loop_.RunFor(absl::Seconds(20));
  EXPECT_GT(requests_.size(), 2u);
  requests_.clear();
  Answer(201);
  loop_.RunFor(absl::Minutes(1));
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_NE(Decode(requests_[0]).note(), Decode(requests_[1]).note());
  EXPECT_EQ(log_->lines().size(), 0u);
}

// An admission webhook that fails for the events of one namespace must not silence the component.
TEST_F(RestEventRecorderTest, ARefusedEventDoesNotHoldUpTheOthers) {
  for (const absl::Status& failure :
       {StatusFromResponse(500, "failed calling webhook"), absl::DeadlineExceededError("slow")}) {
    SCOPED_TRACE(failure.ToString());
    Start();
    bool mended = false;
    Serve([&](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      if (!mended && request.target.find("/namespaces/bad/") != std::string::npos) return failure;
      return FakeRestClient::Json(201, "");
    });
    ObjectRef bad = kObject, good = kObject;
    bad.ns = "bad";
    good.ns = "good";
    for (int i = 0; i < 8; ++i) Record(std::to_string(i), bad);
    for (int i = 0; i < 8; ++i) Record(std::to_string(i), good);
    const double before = Count("created");
    loop_.RunFor(absl::Milliseconds(100));
    EXPECT_EQ(Count("created"), before + 8);
    // Each is tried again, and arrives once it may.
    mended = true;
    loop_.RunFor(absl::Seconds(2));
    EXPECT_EQ(Count("created"), before + 16);
    EXPECT_EQ(Count("failed"), 0);
  }
}

TEST_F(RestEventRecorderTest, RefusedEventsTakeNoRoomFromOthers) {
  options_.max_queue = 10;
  Start();
  Answer(500);
  for (int i = 0; i < 10; ++i) Record(std::to_string(i));
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(requests_.size(), 10u);
  Answer(201);
  Record("another");
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(Count("created"), 1);
  EXPECT_EQ(Count("dropped"), 0);
}

TEST_F(RestEventRecorderTest, TriesOfARefusedEventAreBounded) {
  options_.max_tries = 3;
  Start();
  Answer(500);
  Record();
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(requests_.size(), 3u);
  EXPECT_EQ(Count("failed"), 1);
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

TEST_F(RestEventRecorderTest, AServerThatIsDownIsAskedByOneEventAtATime) {
  Start();
  Answer(503);
  for (int i = 0; i < 100; ++i) Record(std::to_string(i));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_LE(requests_.size(), 4u + 6u);  // those that were in flight, and then 0.8 s, 1.6 s, …
  EXPECT_GE(requests_.size(), 4u + 4u);
  Answer(201);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Count("created"), 100);
  // It has been there since: the next failure is tried again soon.
  Answer(503);
  requests_.clear();
  Record("later");
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(requests_.size(), 2u);
}

TEST_F(RestEventRecorderTest, RetryAfterIsWaitedFor) {
  for (const int code : {429, 500}) {
    SCOPED_TRACE(code);
    Start();
    Serve([code](const RestRequest&) -> absl::StatusOr<HttpResponse> {
      return StatusFromResponse(code, "", absl::Seconds(20));
    });
    requests_.clear();
    Record();
    loop_.RunFor(absl::Seconds(19));
    EXPECT_EQ(requests_.size(), 1u);
    loop_.RunFor(absl::Seconds(2));
    EXPECT_EQ(requests_.size(), 2u);
  }
}

TEST_F(RestEventRecorderTest, TriesAreBounded) {
  options_.max_tries = 3;
  Start();
  Answer(503);
  Record();
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(requests_.size(), 3u);
  EXPECT_EQ(Count("failed"), 1);
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
}

TEST_F(RestEventRecorderTest, AnEarlierTryThatWasHeardIsNoError) {
  Start();
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
  Start();
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

TEST_F(RestEventRecorderTest, ARefusalIsSaidOnceAndConcernsNothingElse) {
  Start();
  Answer(403);
  for (int i = 0; i < 5; ++i) Record(std::to_string(i));
  EXPECT_EQ(Take().size(), 5u);
  EXPECT_EQ(log_->Count("Cannot record events"), 1);
  EXPECT_EQ(Count("failed"), 5);
  Answer(201);
  Record("again");
  EXPECT_EQ(Take().size(), 1u);
  EXPECT_EQ(Count("created"), 1);
}

TEST_F(RestEventRecorderTest, CallsThatDoNotFitAreDropped) {
  options_.max_queue = 10;
  Start();
  for (int i = 0; i < 25; ++i) Record(std::to_string(i));
  EXPECT_EQ(Count("dropped"), 15);
  EXPECT_EQ(Take().size(), 10u);
}

TEST_F(RestEventRecorderTest, EventsThatDoNotFitAreDropped) {
  options_.max_queue = 10;
  Start();
  Answer(503);
  for (int i = 0; i < 25; ++i) {
    Record(std::to_string(i));
    loop_.RunReady();
  }
  EXPECT_EQ(Count("dropped"), 15);
}

TEST_F(RestEventRecorderTest, TheOldestSeriesIsForgottenWhenThereAreTooMany) {
  options_.max_series = 2;
  Start();
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
  Start();
  Record("one");
  Record("two");
  bool flushed = false;
  recorder_->Flush(absl::InfiniteFuture(), [&] { flushed = true; });
  EXPECT_FALSE(flushed);
  EXPECT_TRUE(loop_.RunUntil([&] { return flushed; }));
  EXPECT_EQ(requests_.size(), 2u);
  // Also what a series was holding back.
  Record("two");
  Take();
  Record("two");
  flushed = false;
  recorder_->Flush(absl::InfiniteFuture(), [&] { flushed = true; });
  EXPECT_TRUE(loop_.RunUntil([&] { return flushed; }, absl::Seconds(1)));
  EXPECT_THAT(requests_.back().body, HasSubstr(R"("count":3)"));
}

TEST_F(RestEventRecorderTest, FlushHasADeadline) {
  for (const int code : {503, 500}) {
    SCOPED_TRACE(code);
    Start();
    Answer(code);
    Record();
    bool flushed = false;
    const absl::Time start = loop_.clock().TimeNow();
    recorder_->Flush(start + absl::Seconds(5), [&] { flushed = true; });
    EXPECT_TRUE(loop_.RunUntil([&] { return flushed; }));
    EXPECT_EQ(loop_.clock().TimeNow(), start + absl::Seconds(5));
  }
}

TEST_F(RestEventRecorderTest, DestroyedWithRequestsAndTimersUnderWay) {
  Start();
  Record("one");
  Record("two");
  bool flushed = false;
  recorder_->Flush(absl::InfiniteFuture(), [&] { flushed = true; });
  loop_.RunReady();
  EXPECT_FALSE(flushed);
  recorder_.reset();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(requests_.size(), 2u);
  EXPECT_TRUE(flushed);
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

TEST(FakeEventRecorderTest, Keeps) {
  FakeEventRecorder recorder;
  recorder.Eventf(kObject, EventType::kWarning, "Forbidden", "Bind", "may not bind");
  ASSERT_EQ(recorder.events().size(), 1u);
  EXPECT_EQ(recorder.events()[0].ToString(), "Warning Forbidden ScopeInstance a: may not bind");
}

}  // namespace
}  // namespace mandate
