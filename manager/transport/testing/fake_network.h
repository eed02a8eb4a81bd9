// Scripted connections and servers in virtual time, for faults of HttpTransport without a socket.
//
//   SimulatedLoop loop;
//   FakeNetwork network(loop, {.seed = 7});
//   auto transport = *HttpTransport::CreateOn(loop, {}, network.NewCodec());
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "manager/transport/client_codec.h"

namespace mandate {

// Its servers answer a request with its target. They hold requests whose target starts with /watch
// open and send "x" now and then. Single-threaded.
class FakeNetwork {
 public:
  // The percentage of…
  struct Faults {
    int connect_refused = 0;  // connections: refused
    int connect_silent = 0;   // …: the handshake never ends
    int http1 = 0;            // the server speaks HTTP/1.1
    int untrusted = 0;        // …: the certificate is not trusted
    int never = 0;            // requests: no response
    int refused_stream = 0;   // REFUSED_STREAM
    int reset = 0;            // RST_STREAM before the head, after the request was served
    int cut = 0;              // RST_STREAM after the head
    int go_away = 0;          // GOAWAY that does not include later requests
    int close = 0;            // the connection is closed
    int stall = 0;            // the connection is silent for ever
    int half_probe = 0;       // probes: the response never ends
  };
  struct Options {
    uint64_t seed = 0;
    Faults faults = {};
    size_t server_streams = 250;  // streams per connection that the server takes
    size_t client_streams = 100;  // more streams on a connection are a violation
    absl::Duration connect_timeout = absl::Seconds(10);
    absl::Duration slowest = absl::Milliseconds(300);  // of each step
    int watch_ends = 5;                                // in a hundred, after each event
  };
  struct Counts {
    size_t connections = 0, requests = 0, probes = 0, refusals = 0, resets = 0, closed = 0,
           went_away = 0, stalls = 0;
  };

  FakeNetwork(Loop& loop, const Options& options);  // `loop` outlives this
  ~FakeNetwork();

  // The network outlives its codecs.
  ClientCodecFactory NewCodec();

  // Ends all faults.
  void Heal() { options_.faults = {}; }

  // How often servers acted on a target.
  int served(const std::string& target) const;
  // Whether a request for the target ever went out.
  bool sent(const std::string& target) const { return sent_.contains(target); }
  // Targets in the order in which they first reached a connection, by server and component.
  const std::map<std::string, std::vector<std::string>>& admitted() const { return admitted_; }
  const Counts& counts() const { return counts_; }
  size_t codecs() const { return codecs_.size(); }
  // How many requests wait on connections that have been silent since before `time` and could have
  // been probed: they use HTTP/2, have room and got no GOAWAY.
  size_t HangingSince(absl::Time time) const;
  // The violations of the transport.
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  class FakeCodec;
  bool Happens(int percent);
  absl::Duration Delay();

  Loop& loop_;
  Options options_;
  std::mt19937_64 random_;
  Counts counts_;
  std::vector<const FakeCodec*> codecs_;
  std::map<std::string, int> served_;
  std::map<std::string, std::vector<std::string>> admitted_;
  std::set<std::string> admitted_once_;
  std::set<std::string> sent_;
  std::vector<std::string> violations_;
};

}  // namespace mandate
