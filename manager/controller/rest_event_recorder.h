// Records events on the API server, as the component.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"
#include "manager/controller/event_recorder.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"

namespace mandate {

// A recorder that sends events to the API server. A repetition within the window (same object,
// type, reason, action and note) becomes a count in the first event's series. Events of one
// namespace and reason are a flow: they are sent in order, and flows take turns, because a
// hanging webhook may affect only some events. An event that fails for a reason of its own (500, no
// response in time) is retried later, and the others go on meanwhile. While the server is down or
// overloaded, or does not accept the credential, all wait and one is tried. Events that do not fit
// are dropped, from the longest flow, and counted.
//
// Thread-safe; destroyed on the loop's thread or after the loop has ended.
class RestEventRecorder : public EventRecorder {
 public:
  struct Options {
    RestClient* client = nullptr;  // whose identity the events have; outlives this
    std::string instance;          // the process: "host_uuid"
    Metrics* metrics = nullptr;    // outlives this
    Logger log = {};
    uint64_t seed = 0;  // of backoff

    size_t max_queue = 1000;   // Record calls and events, together, that wait to be sent
    size_t max_series = 4096;  // series that are remembered; half of them may wait for a retry
    absl::Duration series_window = absl::Minutes(6);
    // The second observation is sent at once, further ones no more often than this.
    absl::Duration series_period = absl::Seconds(30);
    absl::Duration request_timeout = absl::Seconds(10);
    int max_tries = 12;        // of one request
    size_t max_in_flight = 4;  // requests, of a flow too
    // A request without a response for so long counts as slow, not as in flight.
    absl::Duration slow_request_after = absl::Seconds(1);
    size_t max_slow = 32;
  };

  // kInvalidArgument names the option.
  static absl::StatusOr<std::unique_ptr<RestEventRecorder>> Create(Options options);
  ~RestEventRecorder() override;

  void Record(const ObjectRef& regarding, EventType type, std::string_view reason,
              std::string_view action, std::string_view note) override;

  // Runs `done` on the loop, never inside this call, when all events recorded before are sent, or
  // at `deadline` (of Clock::TimeNow()). One call at a time. Any thread.
  void Flush(absl::Time deadline, absl::AnyInvocable<void() &&> done);

 private:
  class Core;
  explicit RestEventRecorder(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;  // shared with tasks and requests
};

}  // namespace mandate
