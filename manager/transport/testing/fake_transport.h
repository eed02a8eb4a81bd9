// A Transport with scripted responses, on a Loop that may be simulated. It records every request,
// and keeps the contract of calls and streams by the classes that keep it for the real transport.
//
//   SimulatedLoop loop;
//   FakeTransport fake(loop);
//   fake.Expect("GET", "/api/v1/namespaces", FakeReply::Json(200, R"({"items":[]})"));
//   fake.OnStream([](FakeStream& stream) { stream.Open(); });
//   …
//   loop.RunReady();
//   EXPECT_EQ(fake.requests()[0].token, "token-of-foo");
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/core/weak_self.h"
#include "manager/transport/active_call.h"
#include "manager/transport/http_options.h"
#include "manager/transport/testing/fake_stream.h"
#include "manager/transport/transport.h"

namespace mandate {

// The response to a request.
struct FakeReply {
  // An error: there was no response.
  absl::StatusOr<HttpResponse> result = HttpResponse{};
  absl::Duration delay = absl::ZeroDuration();
  // No response at all: the call ends by its deadline or its stop.
  bool never = false;

  static FakeReply Json(int code, std::string body);
  static FakeReply Code(int code) { return Json(code, ""); }
  static FakeReply Error(absl::Status status) { return {.result = std::move(status)}; }
  static FakeReply Never() { return {.never = true}; }
  FakeReply After(absl::Duration by) const;
};

// Single-threaded with a SimulatedLoop; otherwise loop thread only, except for the constructor.
class FakeTransport : public Transport {
 public:
  using Handler = std::function<FakeReply(const HttpRequest&)>;
  // Answers a call by calling `reply` once, at once or later.
  using Reply = std::function<void(FakeReply)>;
  using LateHandler = std::function<void(const HttpRequest&, Reply reply)>;

  // The failure of requests after FailAfter().
  struct Failure {
    size_t times = std::numeric_limits<size_t>::max();
    // The server acted on the request, but its response was lost.
    bool reply_lost = false;
    absl::Status status = absl::UnavailableError("connection reset (injected)");
  };

  explicit FakeTransport(Loop& loop) : loop_(loop) {}  // `loop` outlives this
  // Open calls and streams end with kCancelled, later on the loop.
  ~FakeTransport() override;

  void Call(const CallContext& context, HttpRequest request, Done done) override;
  std::unique_ptr<Stream> Open(HttpRequest request, std::shared_ptr<StreamSink> sink) override;

  // The server of calls that match no expectation. It runs in a task of the loop, not inside
  // Call().
  void Handle(Handler handler) { handler_ = std::move(handler); }
  // The same for a server that answers later; it is asked before the other.
  void HandleLate(LateHandler handler) { late_handler_ = std::move(handler); }
  // Answers the next call of `method` whose target starts with `target_prefix`. Expectations for
  // the same call are used in order, before the handler is asked. A call that has neither fails
  // with kInternal.
  void Expect(std::string method, std::string target_prefix, FakeReply reply);
  size_t unmet_expectations() const { return expectations_.size(); }

  // Runs `opened`, as a task of the loop, for every stream that is opened.
  void OnStream(std::function<void(FakeStream&)> opened) { on_stream_ = std::move(opened); }

  // Lets `requests` more calls and streams through, then fails `failure.times` of them.
  void FailAfter(size_t requests, Failure failure);
  void FailAfter(size_t requests) { FailAfter(requests, Failure()); }

  // Every call and stream, in order, also those that failed.
  const std::deque<RecordedRequest>& requests() const { return requests_; }
  // How many of them match.
  size_t CountRequests(std::string_view method, std::string_view target_prefix) const;
  void ForgetRequests() { requests_.clear(); }

  // Streams in the order in which they were opened; valid as long as this.
  size_t stream_count() const { return streams_.size(); }
  FakeStream& stream(size_t index) { return *streams_.at(index); }
  // Streams that are neither closed nor cancelled.
  size_t open_stream_count() const;
  // The last stream that is open and whose target has this prefix; null: none.
  FakeStream* FindStream(std::string_view target_prefix);

 private:
  struct Expectation {
    std::string method;
    std::string target_prefix;
    FakeReply reply;
  };
  struct PendingCall {
    std::shared_ptr<ActiveCall> active;
    std::unique_ptr<Loop::Timer> reply = nullptr;
  };

  FakeReply ReplyTo(const HttpRequest& request);
  // The failure of the next request, if it has one.
  std::optional<Failure> NextFailure();
  void Finish(uint64_t id, absl::StatusOr<HttpResponse> result);
  void Serve(uint64_t id, const HttpRequest& request, std::optional<Failure> failure);
  void Answer(uint64_t id, FakeReply reply);
  bool IsExpected(const HttpRequest& request) const;

  Loop& loop_;
  // The options of the rules for calls and streams. The bounds are too large to be reached.
  const HttpOptions options_ = {.max_response_bytes = std::numeric_limits<size_t>::max(),
                                .max_call_duration = absl::InfiniteDuration()};
  HttpStats stats_;
  Handler handler_;
  LateHandler late_handler_;
  std::function<void(FakeStream&)> on_stream_;
  std::deque<Expectation> expectations_;
  size_t until_failure_ = 0;
  Failure failure_{.times = 0};
  std::deque<RecordedRequest> requests_;
  std::deque<std::shared_ptr<FakeStream>> streams_;
  std::map<uint64_t, PendingCall> calls_;
  uint64_t next_call_ = 0;
  WeakSelf weak_;
};

}  // namespace mandate
