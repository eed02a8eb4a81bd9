// Tests of HttpTransport with a server of their own, driven from the test's thread.
#ifndef MANAGER_TRANSPORT_TESTING_TRANSPORT_FIXTURE_H_
#define MANAGER_TRANSPORT_TESTING_TRANSPORT_FIXTURE_H_

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
  std::optional<absl::Status> closed() const;
  // How often OnClosed was called. More than once is a bug, and so is any event after it.
  int closed_count() const;
  bool called_after_close() const;

 private:
  mutable Mutex mutex_;
  int code_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string data_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> closed_ ABSL_GUARDED_BY(mutex_);
  int closed_count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool called_after_close_ ABSL_GUARDED_BY(mutex_) = false;
};

// One stream and its sink.
struct Watch {
  std::shared_ptr<CollectingSink> sink;
  std::unique_ptr<Stream> stream;  // used on the loop's thread
};

// A call that is pending or done.
struct AsyncCall {
  Latch done;
  absl::StatusOr<HttpResponse> result;  // valid if `done`
  int times_done = 0;
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

  HttpRequest Request(std::string target, std::string token = "token",
                      std::string method = "GET") const;

  // Runs `work` on the transport's loop and waits for it.
  void OnLoop(const std::function<void()>& work);
  static Transport::Done Into(std::shared_ptr<AsyncCall> call);
  std::shared_ptr<AsyncCall> StartCall(HttpRequest request, CallContext context = {});
  // Calls and waits for the result.
  absl::StatusOr<HttpResponse> Call(HttpRequest request, CallContext context = {});
  CallContext Within(absl::Duration duration) const;

  Watch Open(HttpRequest request);
  void Close(Watch& watch);
  HttpTransport::Stats Stats();

  // For handlers that answer later, or never. Thread-safe.
  void Keep(std::shared_ptr<ServerStream> stream);
  // The streams that were kept since the last call.
  std::vector<std::shared_ptr<ServerStream>> TakeKept();
  // Counters for handlers. Thread-safe.
  int CountUp(const std::string& what);
  int CountOf(const std::string& what);

  // Waits until `condition` holds. False after five minutes, a limit for hangs only.
  bool Eventually(const std::function<bool()>& condition);

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

#endif  // MANAGER_TRANSPORT_TESTING_TRANSPORT_FIXTURE_H_
