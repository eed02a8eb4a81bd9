// Carries requests on one connection. connection.h decides which requests are sent, and when.
// CurlCodec is the real one; testing/fake_network.h and testing/scripted_codec.h have fakes.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/transport/active_request.h"

namespace mandate {

// The result of one request on one connection.
struct TransferResult {
  absl::Status status;       // OK: the response is complete
  bool sent = false;         // it went out, at least in part
  bool received = false;     // part of the response came
  bool refused = false;      // it needs another connection
  bool unprocessed = false;  // the server certainly did not act on it
  bool lost = false;         // the connection or the stream failed: not the fault of the request
};

// Connects for its first request and never again. Delivers the response to the request, and ends
// the request when it returns false. Loop thread only.
class ClientCodec {
 public:
  struct Completion {
    std::shared_ptr<ActiveRequest> active;
    TransferResult result;
  };

  class Observer {
   public:
    virtual ~Observer() = default;
    // These three are called inside the codec: do not touch it. The request goes out now; something
    // came from the server; a head came, over HTTP/2 or not.
    virtual void OnSent(ActiveRequest& active) = 0;
    virtual void OnReceived() = 0;
    virtual void OnHeaders(bool multiplexed) = 0;
    // Called with no libcurl frame on the stack, when these requests have completed. All other
    // state is up to date.
    virtual void OnCompleted(std::vector<Completion> over) = 0;
    // Called with no libcurl frame on the stack: the codec cannot be used any more.
    virtual void OnConnectionError(absl::Status status) = 0;
  };

  // Requests that are still on it get no call.
  virtual ~ClientCodec() = default;

  virtual absl::Status Add(std::shared_ptr<ActiveRequest> active) = 0;
  // Ends a request that has not completed. Returns whether it had been sent.
  virtual bool Remove(const ActiveRequest& active) = 0;
  // Tells the server which requests were ended. False: only closing the connection can.
  virtual bool Flush() = 0;
  // There was a connection, and it is closed.
  virtual bool closed() const = 0;
};

// The observer outlives the codec. kResourceExhausted: out of memory.
using ClientCodecFactory =
    std::function<absl::StatusOr<std::unique_ptr<ClientCodec>>(ClientCodec::Observer&)>;

}  // namespace mandate
