// A connection that libcurl makes and drives: one multi handle on the event loop.
#pragma once

#include <curl/curl.h>

#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/core/event_loop.h"
#include "manager/core/weak_self.h"
#include "manager/transport/client_codec.h"
#include "manager/transport/curl_handles.h"
#include "manager/transport/http_options.h"
#include "manager/transport/transfer.h"

namespace mandate {

// Loop thread only.
class CurlCodec : public ClientCodec, private Transfer::Observer {
 public:
  // All outlive the codec. kResourceExhausted: out of memory.
  static absl::StatusOr<std::unique_ptr<ClientCodec>> Create(EventLoop& loop,
                                                             const HttpOptions& options,
                                                             HttpStats& stats,
                                                             ClientCodec::Observer& observer);
  ~CurlCodec() override;

  absl::Status Add(std::shared_ptr<ActiveRequest> active) override;
  bool Remove(const ActiveRequest& active) override;
  bool Flush() override;
  bool closed() const override { return connected_ && sockets_.empty(); }

 private:
  CurlCodec(EventLoop& loop, const HttpOptions& options, HttpStats& stats,
            ClientCodec::Observer& observer);
  absl::Status SetUp();

  // Called by libcurl.
  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int OnTimeout(CURLM*, long milliseconds, void* self);
  void WatchSocket(curl_socket_t fd, int what);
  void Act(curl_socket_t fd, int events);
  // Reports the requests that have completed.
  void Settle();
  TransferResult ResultOf(Transfer& transfer, CURLcode code);
  std::unique_ptr<Transfer> Take(CURL* easy);

  // Transfer::Observer.
  void OnSent(const Transfer& transfer) override;
  void OnReceived() override { observer_.OnReceived(); }
  void OnHeaders(bool multiplexed) override;
  bool MayOpenSocket() override { return !connected_; }
  void OnSocketOpened(curl_socket_t socket) override;
  void OnSocketClosing(curl_socket_t socket) override;

  EventLoop& loop_;
  const HttpOptions& options_;
  const bool tested_;  // CurlSupport
  HttpStats& stats_;
  ClientCodec::Observer& observer_;
  std::map<curl_socket_t, std::unique_ptr<EventLoop::FdWatch>> watches_;
  CurlMulti multi_;
  std::unordered_map<CURL*, std::unique_ptr<Transfer>> transfers_;
  std::unordered_map<const ActiveRequest*, CURL*> by_request_;
  std::unique_ptr<Loop::Timer> timeout_;  // set by libcurl
  std::set<curl_socket_t> sockets_;       // one, except while several addresses are tried
  bool connected_ = false;                // it was, once
  bool unflushed_ = false;                // a request was ended that the server still serves
  bool changed_ = false;
  WeakSelf weak_;
};

}  // namespace mandate
