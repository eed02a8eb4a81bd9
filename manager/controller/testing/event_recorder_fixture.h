// An event recorder in simulated time, and a server whose answers the test sets.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/controller/rest_event_recorder.h"
#include "manager/core/strings.h"
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
  // A recorder with `options_`. The first Record() starts one.
  void Start() {
    options_.client = &client_;
    options_.instance = "host_uuid";
    options_.metrics = &metrics_;
    options_.log = Logger(log_, loop_.clock());
    auto recorder = RestEventRecorder::Create(options_);
    ASSERT_TRUE(recorder.ok()) << recorder.status();
    recorder_ = *std::move(recorder);
  }
  RestEventRecorder& recorder() {
    if (recorder_ == nullptr) Start();
    return *recorder_;
  }
  void Record(const std::string& note = "Bound", const ObjectRef& object = kObject) {
    recorder().Record(object, EventType::kNormal, "Bound", "Bind", note);
  }
  // Events with the notes "0", "1" …
  void RecordMany(int count, const ObjectRef& object = kObject) {
    for (int i = 0; i < count; ++i) Record(std::to_string(i), object);
  }
  void Flush(absl::Time deadline = absl::InfiniteFuture()) {
    flushed_ = false;
    recorder_->Flush(deadline, [this] { flushed_ = true; });
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
  // The server gives the events of namespaces that begin with "bad" to `handler`, and accepts the
  // others.
  void HandleBad(std::function<void(const FakeRestClient::Reply&)> handler) {
    client_.HandleLate([handler](const RestRequest& request, const FakeRestClient::Reply& reply) {
      if (request.target.find("/namespaces/bad") != std::string::npos) return handler(reply);
      reply(FakeRestClient::Json(201, ""));
    });
  }
  void RefuseBad(const absl::Status& status) {
    HandleBad([status](const FakeRestClient::Reply& reply) { reply(status); });
  }
  // The response to an event that an admission webhook denies.
  static absl::Status DeniedByWebhook(int code) {
    return StatusFromResponse(
        code,
        StrCat(R"({"kind":"Status","code":)", code,
               R"(,"message":"admission webhook \"a.example.com\" denied the request: no"})"));
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
  bool flushed_ = false;  // by the last Flush()
  std::unique_ptr<RestEventRecorder> recorder_;
};

}  // namespace mandate
