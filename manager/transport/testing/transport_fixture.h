// Tests of HttpTransport with a server of their own, driven from the test's thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "manager/core/event_loop.h"
#include "manager/core/executor.h"
#include "manager/core/mutex.h"
#include "manager/transport/http_transport.h"
#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/test_pki.h"
#include "manager/transport/transport.h"

namespace mandate {

// Records the events of a stream. Thread-safe.
class CollectingSink : public StreamSink {
 public:
  Flow OnOpen(const HttpResponse& head) override;
  Flow OnData(std::string_view bytes) override;
  void OnClosed(absl::Status status) override;

  int code() const;  // 0: not open yet
  std::string data() const;
  // Where the last bytes were. Valid as long as the stream is open.
  std::string_view last_bytes() const;
  std::optional<absl::Status> closed() const;
  // How often OnClosed was called. More than once is a bug, and so is any event after it.
  int closed_count() const;
  bool called_after_close() const;

 private:
  mutable Mutex mutex_;
  int code_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string data_ ABSL_GUARDED_BY(mutex_);
  std::string_view last_bytes_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> closed_ ABSL_GUARDED_BY(mutex_);
  int closed_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool called_after_close_ ABSL_GUARDED_BY(mutex_) = false;
};

// Destroys a stream on the loop's thread, and waits for that.
struct OnLoopDeleter {
  void operator()(Stream* stream) const;
  EventLoop* loop = nullptr;
};

// One stream and its sink.
struct Watch {
  std::shared_ptr<CollectingSink> sink = std::make_shared<CollectingSink>();
  std::unique_ptr<Stream, OnLoopDeleter> stream = nullptr;
};

// A call that is pending or done.
struct AsyncCall {
  Latch done;
  absl::StatusOr<HttpResponse> result;  // valid if `done`
  int times_done = 0;
};

// RFC 9113, 7.
enum Http2Error : uint32_t {
  kNoError = 0,
  kProtocolError = 1,
  kInternalError = 2,
  kRefusedStream = 7,
  kCancel = 8,
  kEnhanceYourCalm = 11,
  kHttp11Required = 13,
};

class TransportFixture : public ::testing::Test {
 protected:
  TransportFixture();
  ~TransportFixture() override;
  // Stops transport and server; a derived fixture calls it before it destroys what the server's
  // handler uses. That must not be local to the test.
  void TearDown() override;

  void StartServer(ServerHandler handler, H2Server::Options options = {});
  void StartTransport(HttpOptions options = {});
  // Starts both. The server counts "METHOD TARGET" and acts by target:
  // - /watch…: sends the number of its connection, stays open and is kept.
  // - /half…: the same, with a content-length that is never reached.
  // - /hold…: is kept if it comes on the first connection.
  // - /livez: 403; counts "probes as USER-AGENT AUTHORIZATION".
  // - others: 200 with the number of their connection.
  void Start(HttpOptions options = {}, H2Server::Options server = {});
  void Serve(std::shared_ptr<ServerStream> stream);
  // Applies to later requests.
  void ChangeEndpoint(const std::function<void(Endpoint&)>& change);

  HttpRequest Request(std::string target, std::string token = "token",
                      std::string method = "GET") const;

  // Runs `work` on the transport's loop and waits for it.
  void OnLoop(const std::function<void()>& work);
  static Transport::Done Into(std::shared_ptr<AsyncCall> call);
  std::shared_ptr<AsyncCall> StartCall(HttpRequest request, CallContext context = {});
  // Many calls in one task of the loop.
  std::vector<std::shared_ptr<AsyncCall>> StartCalls(std::vector<HttpRequest> requests);
  const absl::StatusOr<HttpResponse>& Await(const std::shared_ptr<AsyncCall>& call);
  // Calls and waits for the result.
  absl::StatusOr<HttpResponse> Call(HttpRequest request, CallContext context = {});
  // The same; returns the body, or the error as text.
  std::string Ask(HttpRequest request, CallContext context = {});
  CallContext Within(absl::Duration duration) const;

  // Opens a stream to the watch's own sink.
  void OpenInto(Watch& watch, HttpRequest request);
  Watch Open(HttpRequest request);
  // Opens many at once: /watch/0, /watch/1, …, of fifty components with a token each.
  std::vector<Watch> OpenMany(int count);
  // Waits until each has exactly this data, or any.
  bool Has(const Watch& watch, std::string_view data);
  bool AllOpen(const std::vector<Watch>& watches);
  // Waits for the end, which comes once and last. An error: it did not come, or other calls did.
  absl::Status EndOf(const Watch& watch);
  HttpTransport::Stats Stats();

  // For handlers that answer later, or never. Thread-safe.
  void Keep(std::shared_ptr<ServerStream> stream);
  // The streams that were kept since the last call.
  std::vector<std::shared_ptr<ServerStream>> TakeKept();
  std::shared_ptr<ServerStream> Kept(size_t index);
  // Counters for handlers. Thread-safe.
  int CountUp(const std::string& what);
  int CountOf(const std::string& what);

  // Waits until `condition` holds. False after five minutes, a limit for hangs only.
  bool Eventually(const std::function<bool()>& condition);
  void WaitFor(absl::Duration duration);

  TestCa ca_;
  Mutex mutex_;
  std::vector<std::shared_ptr<ServerStream>> kept_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> counts_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<H2Server> server_;
  std::shared_ptr<const Endpoint> endpoint_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<HttpTransport> transport_;
};

}  // namespace mandate
