// One watch of a ComponentClient, from waiting for its token to its end.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "manager/core/executor.h"
#include "manager/kubeconfig/token.h"
#include "manager/transport/transport.h"

namespace mandate {

// Stands between the transport and the caller's sink: the sink sees only 2xx streams, and any other
// answer as OnClosed's error. Loop thread only.
class WatchSession : public StreamSink, public std::enable_shared_from_this<WatchSession> {
 public:
  // Receives the events of the session.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnWatchResponse(const HttpResponse& head) = 0;
    // The response is not a success. Called before the sink gets the error.
    virtual void OnWatchRejected(const WatchSession& session, const absl::Status& error) = 0;
    // Last, and once.
    virtual void OnWatchEnded(WatchSession* session) = 0;
  };

  // `loop` outlives it; `owner` ends it before it goes, and may be null.
  WatchSession(Loop& loop, Owner* owner, std::shared_ptr<StreamSink> sink, size_t max_error_body)
      : loop_(loop), owner_(owner), sink_(std::move(sink)), max_error_body_(max_error_body) {}

  // A watch that has ended: its sink gets `error`, later.
  static std::unique_ptr<Stream> Reject(Loop& loop, std::shared_ptr<StreamSink> sink,
                                        absl::Status error);
  // The caller's Stream: Release() is called when it is destroyed.
  static std::unique_ptr<Stream> Handle(std::shared_ptr<WatchSession> session);

  // Opens the stream, unless the session has ended.
  void Open(Transport& transport, HttpRequest request, std::shared_ptr<const Token> token);

  // Ends it: the sink's OnClosed gets `reason`, later. Only the first end counts.
  void End(absl::Status reason);
  // The caller has destroyed its Stream. The sink gets the end only if another owner keeps it.
  void Release();

  bool ended() const { return ended_; }
  // The token it was opened with; null before that, and with a certificate.
  const std::shared_ptr<const Token>& token() const { return token_; }
  // The target of the request; empty before the session is opened.
  const std::string& target() const { return target_; }

  Flow OnOpen(const HttpResponse& head) override;
  Flow OnData(std::string_view bytes) override;
  void OnClosed(absl::Status status) override;

 private:
  std::shared_ptr<StreamSink> TakeSink();

  Loop& loop_;
  Owner* owner_;
  std::shared_ptr<StreamSink> sink_;  // null once ended
  const size_t max_error_body_;
  std::shared_ptr<const Token> token_;
  std::string target_;
  std::unique_ptr<Stream> stream_;
  std::optional<HttpResponse> refusal_;  // an unsuccessful response; its body grows as it arrives
  bool ended_ = false;
};

}  // namespace mandate
