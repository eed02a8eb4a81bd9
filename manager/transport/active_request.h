// One request and its response, independent of the connection that carries it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "manager/transport/transport.h"

namespace mandate {

// A queue or a transfer carries the request, one at a time. It ends exactly once: when its transfer
// is over, or by itself (at a deadline or a cancellation); then it asks its carrier to drop it.
// Loop thread only.
class ActiveRequest : public std::enable_shared_from_this<ActiveRequest> {
 public:
  explicit ActiveRequest(HttpRequest request) : request_(std::move(request)) {}
  virtual ~ActiveRequest() = default;
  ActiveRequest(const ActiveRequest&) = delete;
  ActiveRequest& operator=(const ActiveRequest&) = delete;

  const HttpRequest& request() const { return request_; }

  // Both are called inside libcurl: do not touch any handle. False: end the transfer; reason() says
  // why.
  virtual bool OnHeaders(const HttpResponse& head) = 0;
  virtual bool OnBody(std::string_view bytes) = 0;

  // The response was cut short. True: its head is enough, and End(OK) delivers it.
  virtual bool AcceptTruncatedResponse() { return false; }

  // The request goes out now, at least in part.
  void NoteSent() { maybe_processed_ = true; }
  // The server promised that it did not act on what was sent. Does nothing if an earlier attempt
  // may have reached the server.
  void MarkUnprocessed() { maybe_processed_ = resent_unverified; }

  // The transfer is over, or there will be none. An error is marked MarkNotSent() unless the server
  // may have served the request. Does nothing when the request has ended already.
  void End(absl::Status status);
  bool ended() const { return ended_; }
  // Whether it ended because its response did not come in time.
  bool timed_out() const { return timed_out_; }

  // Why OnHeaders or OnBody returned false.
  const absl::Status& reason() const { return reason_; }

  // `drop` is called when the request ends by itself, perhaps inside libcurl.
  void SetOnDrop(std::function<void()> drop) { drop_ = std::move(drop); }
  // From now on a stream's sink gets no headers and no data, only OnClosed(). Calls are not
  // affected.
  void SilenceIfStream() { silenced_ = true; }

  // How often it was sent again, and whether it was once sent again without proof that the server
  // had not seen it.
  int resends = 0;
  bool resent_unverified = false;
  // Its component had its full share of requests when this one's turn came.
  bool exceeded_share = false;

 protected:
  // Runs once, with no libcurl frame on the stack.
  virtual void OnEnd(absl::Status status) = 0;
  // Ends the request by itself, with no libcurl frame on the stack.
  void EndEarly(absl::Status status);
  // The same, because its response did not come in time.
  void EndTimedOut(absl::Status status);
  // The same, but does not call OnEnd(): the derived class does what is needed.
  void EndWithoutCall();
  bool Fail(absl::Status reason);
  // `status`, marked MarkNotSent() if that is certain.
  absl::Status Marked(absl::Status status) const;
  bool silenced() const { return silenced_; }
  // False: it never went out, or the server promised that it did not act on it.
  bool maybe_processed() const { return maybe_processed_; }

 private:
  const HttpRequest request_;
  std::function<void()> drop_;
  absl::Status reason_;
  bool ended_ = false;
  bool timed_out_ = false;
  bool maybe_processed_ = false;
  bool silenced_ = false;
};

}  // namespace mandate
