// A request and its response, which pass through the stages of the double.
//
//   front end -> filters (authenticate, audit, impersonate, authorize) -> resources -> store
//
// All stages run on one Loop, in order; a stage may respond at once or later.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// A request, and the functions to respond: Respond(), or Open(), Send()… and End(). After it is
// closed these functions do nothing. Loop thread only.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  explicit Exchange(Request request) : request_(std::move(request)) {}
  virtual ~Exchange() = default;

  Request& request() { return request_; }
  const Request& request() const { return request_; }

  // Sends the whole response.
  void Respond(Response response);
  // Responds with the metav1.Status of `status` (manager/object/api_error.h), in the encoding that
  // the request accepts. A status without this payload becomes a 500.
  void Fail(const absl::Status& status);

  // Starts a stream, sends a part of it, ends it. `head.body` is empty.
  void Open(Response head);
  void Send(std::string frame);
  void End();
  // Ends the exchange like a broken connection, before or after the response has started.
  void Abort();

  // Whether the response is complete or the client has left.
  bool closed() const { return closed_; }
  // Whether the response has started.
  bool answered() const { return answered_; }

  // Adds an observer that runs when the response starts, before it is sent. It may change the code,
  // the headers and, unless the response is a stream, the body.
  void OnAnswer(std::function<void(Response&)> observer);
  // Adds an observer that runs once, when the exchange is closed.
  void OnClosed(std::function<void()> observer);

  // Redirects the parts of a stream to `relay`, and its end as nullopt. The relay passes parts on
  // to the client with Deliver().
  using Relay = std::function<void(std::optional<std::string> frame)>;
  void SetRelay(Relay relay) { relay_ = std::move(relay); }
  void Deliver(std::optional<std::string> frame);

  // Called by the front end when the client has left.
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
// Calls `next`, at once or later, or responds itself.
using Filter = std::function<void(std::shared_ptr<Exchange>, Handler next)>;

}  // namespace mandate::apiserver
