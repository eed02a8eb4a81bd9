// What passes between the stages of the double: a request, its answer, and what a stage may see of
// the objects that are stored.
//
//   front end -> filters (authenticate, audit, impersonate, authorize) -> resources -> store
//
// Everything happens on one Loop, in order; a stage may answer at once or later.
#ifndef TESTING_APISERVER_EXCHANGE_H_
#define TESTING_APISERVER_EXCHANGE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// A request under way, and the means of answering it: Respond(), or Open(), Send()… and End().
// After it is closed they do nothing. Loop thread only.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  explicit Exchange(Request request) : request_(std::move(request)) {}
  virtual ~Exchange() = default;

  Request& request() { return request_; }
  const Request& request() const { return request_; }

  // The whole answer.
  void Respond(Response response);
  // The metav1.Status that `status` carries (manager/object/api_error.h), in the encoding that the
  // request accepts; a status without one is a 500.
  void Fail(const absl::Status& status);

  // A stream, piece by piece. `head.body` is empty.
  void Open(Response head);
  void Send(std::string frame);
  void End();
  // Ends it as a broken connection does, whether it is open yet or not.
  void Abort();

  // Answered in full, ended, or the client is gone.
  bool closed() const { return closed_; }
  // The answer has begun.
  bool answered() const { return answered_; }

  // Runs when the answer begins, before it is sent: its code, headers, and of a whole answer the
  // body, which may be changed.
  void OnAnswer(std::function<void(Response&)> observer);
  // Runs once, when it is closed.
  void OnClosed(std::function<void()> observer);

  // What a stream sends goes to `relay` instead, its end as nullopt; the relay passes on by
  // Deliver() what shall arrive.
  using Relay = std::function<void(std::optional<std::string> frame)>;
  void SetRelay(Relay relay) { relay_ = std::move(relay); }
  void Deliver(std::optional<std::string> frame);

  // For the front end: the client is gone.
  void MarkGone();

 protected:
  virtual void WriteWhole(const Response& response) = 0;
  virtual void WriteHead(const Response& head) = 0;
  virtual void Write(std::string bytes) = 0;
  virtual void WriteEnd() = 0;
  virtual void WriteAbort() = 0;

 private:
  void Answer(Response& response);
  void Close();

  Request request_;
  bool closed_ = false;
  bool answered_ = false;
  bool ended_ = false;
  Relay relay_;
  std::vector<std::function<void(Response&)>> on_answer_;
  std::vector<std::function<void()>> on_closed_;
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;
// Calls `next`, at once or later, or answers itself.
using Filter = std::function<void(std::shared_ptr<Exchange>, Handler next)>;

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_EXCHANGE_H_
