// Posts bodies to a collector by libcurl, on an event loop.
#pragma once

#include <curl/curl.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/event_loop.h"
#include "manager/tracing/otlp_poster.h"
#include "manager/transport/curl_handles.h"

namespace mandate {

// Verifies the server of an https URL always. Uses no proxy, follows no redirect, and keeps one
// connection. Loop thread only, except that it may be created before the loop has work, and
// destroyed after the loop has stopped.
class CurlPoster : public OtlpPoster {
 public:
  struct Options {
    EventLoop* loop = nullptr;  // outlives this
    std::string url;            // of OtlpTracesUrl()
    // PEM certificates of the authorities to trust; empty: the system's. Read for each post, so
    // that it may change.
    std::string ca_file = {};
    std::string user_agent = "mandate";
    absl::Duration connect_timeout = absl::Seconds(10);
    size_t max_answer_bytes = 64 * 1024;  // of the header and of the body, each
  };

  // Errors: those of reading the CA file. kInvalidArgument: it has no certificate.
  // kResourceExhausted: out of memory.
  static absl::StatusOr<std::unique_ptr<CurlPoster>> Create(Options options);
  ~CurlPoster() override;

  void Post(std::string_view json, absl::Duration timeout, Done done) override;
  void Cancel() override;

 private:
  struct Exchange;

  explicit CurlPoster(Options options);
  // Starts `exchange_`.
  absl::Status Start(std::string_view json, absl::Duration timeout);
  CURLcode SetUp(std::string_view json, absl::Duration timeout);
  void SetUpTls(CURL* easy);
  // Ends the post later on the loop.
  void FailLater(absl::Status status);
  void End(absl::StatusOr<OtlpAnswer> answer);
  absl::StatusOr<OtlpAnswer> AnswerOf(CURLcode code) const;

  // Called by libcurl.
  static int OnSocket(CURL*, curl_socket_t fd, int what, void* self, void*);
  static int OnTimeout(CURLM*, long milliseconds, void* self);
  static size_t OnHeaderLine(char* data, size_t size, size_t count, void* exchange);
  static size_t OnBody(char* data, size_t size, size_t count, void* exchange);
  void WatchSocket(curl_socket_t fd, int what);
  void Act(curl_socket_t fd, int events);

  const Options options_;
  std::map<curl_socket_t, std::unique_ptr<EventLoop::FdWatch>> watches_;
  std::unique_ptr<Loop::Timer> timeout_;  // set by libcurl
  CurlMulti multi_;
  std::unique_ptr<Exchange> exchange_;  // null: no post
};

}  // namespace mandate
