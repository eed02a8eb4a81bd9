// One request and what becomes of its answer, apart from the connection that carries it.
#ifndef MANAGER_TRANSPORT_ACTIVE_REQUEST_H_
#define MANAGER_TRANSPORT_ACTIVE_REQUEST_H_

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "manager/transport/transport.h"

namespace mandate {

// Carried by a queue or by a transfer, one at a time. Ends exactly once: when its transfer is over,
// or by itself (a deadline, a cancellation), and then it asks its carrier to drop it.
// Loop thread only.
class ActiveRequest : public std::enable_shared_from_this<ActiveRequest> {
 public:
  explicit ActiveRequest(HttpRequest request) : request_(std::move(request)) {}
  virtual ~ActiveRequest() = default;
  ActiveRequest(const ActiveRequest&) = delete;
  ActiveRequest& operator=(const ActiveRequest&) = delete;

  const HttpRequest& request() const { return request_; }

  // Both are called inside libcurl, where no handle may be touched. False: give the transfer up,
  // for reason().
  virtual bool OnHead(const HttpResponse& head) = 0;
  virtual bool OnBody(std::string_view bytes) = 0;

  // The answer was cut short. True: its head says enough all the same, and End(OK) delivers that.
  virtual bool TakeHeadAlone() { return false; }

  // The request goes out now, or part of it may.
  void NoteSent() { maybe_served_ = true; }
  // The server promised not to have acted on what was sent. Does nothing if an earlier attempt may
  // have reached it.
  void NoteUnserved() { maybe_served_ = resent_blindly; }

  // The transfer is over, or there will be none. An error is marked NotSent() unless the request
  // may have been served. Does nothing when the request is over already.
  void End(absl::Status status);
  bool ended() const { return ended_; }
  // It ended because its answer did not come in time.
  bool overdue() const { return overdue_; }

  // Why OnHead or OnBody returned false.
  const absl::Status& reason() const { return reason_; }

  // `drop` is called when the request has ended by itself, perhaps inside libcurl.
  void SetCarrier(std::function<void()> drop) { drop_ = std::move(drop); }
  // From now on neither the response nor its end is told to anyone but the caller that is owed one.
  void Silence() { silenced_ = true; }

  // How often it was sent again, and whether once without knowing that this is the first time that
  // the server looks at it.
  int resends = 0;
  bool resent_blindly = false;
  // Its component had as many requests as it may when this one's turn came.
  bool exceeded_share = false;

 protected:
  // Runs at the loop's top level, once.
  virtual void OnEnd(absl::Status status) = 0;
  // Ends it by itself: at the loop's top level.
  void EndEarly(absl::Status status);
  // As EndEarly(): its answer did not come in time.
  void EndOverdue(absl::Status status);
  // As EndEarly, but OnEnd is not called: the derived class sees to it.
  void DropSilently();
  bool GiveUp(absl::Status reason);
  // `status`, marked NotSent() if that is certain.
  absl::Status Marked(absl::Status status) const;
  bool silenced() const { return silenced_; }
  // False: it never went out, or the server promised not to have acted on it.
  bool maybe_served() const { return maybe_served_; }

 private:
  const HttpRequest request_;
  std::function<void()> drop_;
  absl::Status reason_;
  bool ended_ = false;
  bool overdue_ = false;
  bool maybe_served_ = false;
  bool silenced_ = false;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_ACTIVE_REQUEST_H_
