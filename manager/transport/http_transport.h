// Transport over HTTPS, HTTP/2 where the server speaks it.
//
//   auto loop = *EventLoop::Create();
//   std::unique_ptr<HttpTransport> transport = *HttpTransport::Create(*loop, {});
//   loop->Post([&] { transport->Call(context, std::move(request), std::move(done)); });
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "manager/core/call_context.h"
#include "manager/core/event_loop.h"
#include "manager/transport/client_codec.h"
#include "manager/transport/http_options.h"
#include "manager/transport/transport.h"

namespace mandate {

// Requests of all identities share connections, except requests that a client certificate
// authenticates. Watches and calls never share one. Loop thread only.
class HttpTransport : public Transport {
 public:
  using Options = HttpOptions;
  using Stats = HttpStats;

  // From any thread. `loop` outlives the transport and the streams that it opened.
  // kInvalidArgument: an option is out of range; kInternal: libcurl cannot be used.
  static absl::StatusOr<std::unique_ptr<HttpTransport>> Create(EventLoop& loop, Options options);

  // The same over connections other than libcurl's. The transport keeps `new_codec`.
  static absl::StatusOr<std::unique_ptr<HttpTransport>> CreateOn(Loop& loop, Options options,
                                                                 ClientCodecFactory new_codec);

  // On the loop thread: open calls and streams end with kCancelled, later on the loop, and streams
  // get nothing else. From any thread after the loop has stopped: no callback is called.
  ~HttpTransport() override;

  void Call(const CallContext& context, HttpRequest request, Done done) override;
  std::unique_ptr<Stream> Open(HttpRequest request, std::shared_ptr<StreamSink> sink) override;

  Stats stats() const;

 private:
  class Core;
  explicit HttpTransport(std::shared_ptr<Core> core);

  std::shared_ptr<Core> core_;
};

}  // namespace mandate
