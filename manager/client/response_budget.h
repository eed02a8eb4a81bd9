// Bounds the bytes of the responses that one client receives at a time.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "manager/core/metrics.h"
#include "manager/transport/transport.h"

namespace mandate {

// A budget that concurrent responses share. The size of a response is unknown until it has come,
// and a stream is never paused. So when the responses together exceed the budget, the newest one
// that can be requested again is postponed, and its bytes are freed. The oldest response is never
// postponed, so that one always completes; only that one may exceed the budget. Loop thread only.
class ResponseBudget : public std::enable_shared_from_this<ResponseBudget> {
 public:
  class Response;
  struct Options {
    size_t max_bytes = size_t{32} << 20;  // of all responses together
    // The limit of one response. A larger one is kResourceExhausted.
    size_t max_response_bytes = size_t{64} << 20;
    // The limit of one response to a write (it cannot be requested again) and of one error
    // response. API servers store objects of at most 1.5 MiB.
    size_t max_small_response_bytes = size_t{8} << 20;
  };

  // `gauge` has the number of bytes that are held, added to the numbers of other budgets. May be
  // null.
  static std::shared_ptr<ResponseBudget> Create(Options options,
                                                prometheus::Gauge* gauge = nullptr) {
    return std::shared_ptr<ResponseBudget>(new ResponseBudget(options, gauge));
  }
  // Subtracts this budget's bytes from the gauge and does not use it any more: responses may
  // outlive the client, and so the gauge.
  void DropGauge();

  // Adds the newest response. `repeatable`: it may be postponed.
  std::shared_ptr<Response> Begin(bool repeatable);

  // Whether to request a response again now that was postponed after `bytes`.
  bool HasCapacityFor(size_t bytes) const;
  size_t held() const { return held_; }

 private:
  ResponseBudget(Options options, prometheus::Gauge* gauge) : options_(options), gauge_(gauge) {}

  size_t LimitOf(const Response& response) const;
  absl::Status Take(Response& response, std::string_view bytes);
  void Postpone();
  void Free(Response& response);
  void SetHeld(size_t held);

  const Options options_;
  prometheus::Gauge* gauge_;
  std::list<Response*> responses_;  // the oldest first
  size_t held_ = 0;
};

// Keeps a body as it comes. Each attempt of a call has its own.
class ResponseBudget::Response : public BodySink {
 public:
  Response(std::shared_ptr<ResponseBudget> budget, bool repeatable);
  ~Response() override;

  void OnHeaders(const HttpResponse& head) override;
  // kAborted after the response was postponed: the call ends with that error.
  absl::Status OnBody(std::string_view bytes) override;

  // Ends the response: its bytes are the caller's, and no longer count.
  std::string TakeBody();
  // The response is not wanted any more: data that still comes gets an error.
  void Abandon();

  bool postponed() const { return postponed_; }
  // How many bytes had come before the response was postponed.
  size_t postponed_bytes() const { return postponed_bytes_; }
  bool too_large() const { return too_large_; }

 private:
  friend class ResponseBudget;

  const std::shared_ptr<ResponseBudget> budget_;
  const bool repeatable_;
  std::list<Response*>::iterator place_;
  std::string body_;
  bool is_error_ = false;
  bool postponed_ = false;
  bool abandoned_ = false;
  bool too_large_ = false;
  size_t postponed_bytes_ = 0;
};

}  // namespace mandate
