// A connection as its connection sees it: what carries requests, apart from the rules about them.
// CurlCodec is the real one; testing/fake_network.h has one that is a script.
#ifndef MANAGER_TRANSPORT_CLIENT_CODEC_H_
#define MANAGER_TRANSPORT_CLIENT_CODEC_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/transport/active_request.h"

namespace mandate {

// What became of one request.
struct TransferResult {
  absl::Status status;    // OK: the answer is complete
  bool sent = false;      // it went out, or part of it
  bool heard = false;     // some of the answer came
  bool refused = false;   // another connection would be needed for it
  bool unserved = false;  // the server surely did not act on it
  bool lost = false;      // the connection failed, or the stream: it is not the request's fault
};

// Connects for the first request that is put on it, and never again. Hands what comes to the
// request, and gives it up when that returns false. Loop thread only.
class ClientCodec {
 public:
  struct Completion {
    std::shared_ptr<ActiveRequest> active;
    TransferResult result;
  };

  class Observer {
   public:
    virtual ~Observer() = default;
    // Inside the codec, which may not be touched: the request goes out now; something came from the
    // server; a head came, over HTTP/2 or not.
    virtual void OnSent(ActiveRequest& active) = 0;
    virtual void OnHeard() = 0;
    virtual void OnHead(bool multiplexed) = 0;
    // At the loop's top level: these are over, and whatever else happened has.
    virtual void OnSettled(std::vector<Completion> over) = 0;
    // At the top level: the codec is of no use.
    virtual void OnBroken(absl::Status status) = 0;
  };

  // Nobody is told of what it still carried.
  virtual ~ClientCodec() = default;

  virtual absl::Status Add(std::shared_ptr<ActiveRequest> active) = 0;
  // Gives up a request that is not over; returns whether it had been sent.
  virtual bool Remove(const ActiveRequest& active) = 0;
  // Tells the server what was given up. False: that takes closing the connection.
  virtual bool Flush() = 0;
  // There was a connection, and it is gone.
  virtual bool gone() const = 0;
};

// The observer outlives the codec. kResourceExhausted: out of memory.
using ClientCodecFactory =
    std::function<absl::StatusOr<std::unique_ptr<ClientCodec>>(ClientCodec::Observer&)>;

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_CLIENT_CODEC_H_
