// An event recorder in simulated time, and a server whose answers the test sets.
#ifndef MANAGER_CONTROLLER_TESTING_EVENT_RECORDER_FIXTURE_H_
#define MANAGER_CONTROLLER_TESTING_EVENT_RECORDER_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/controller/rest_event_recorder.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/events_v1.h"
#include "manager/object/object_codec.h"

namespace mandate {

inline const ObjectRef kObject = {"operators.coreos.com/v1alpha1", "ScopeInstance", "", "a", "uid"};

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
    recorder_->Record(object, EventType::kNormal, "Bound", "Bind", note);
  }
  // Events with the notes "0", "1" …
  void RecordMany(int count, const ObjectRef& object = kObject) {
    for (int i = 0; i < count; ++i) Record(std::to_string(i), object);
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
  // The server answers each event of the namespace "bad" like this, and accepts the others.
  void RefuseBad(const absl::Status& status) {
    Serve([status](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      if (request.target.find("/namespaces/bad/") != std::string::npos) return status;
      return FakeRestClient::Json(201, "");
    });
  }
  static ObjectRef In(std::string ns) {
    ObjectRef object = kObject;
    object.ns = std::move(ns);
    return object;
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

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_TESTING_EVENT_RECORDER_FIXTURE_H_
