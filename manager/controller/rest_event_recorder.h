// Records events on the API server, as the component.
#ifndef MANAGER_CONTROLLER_REST_EVENT_RECORDER_H_
#define MANAGER_CONTROLLER_REST_EVENT_RECORDER_H_

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

// The same event seen again within the window (same object, type, reason, action and note) becomes
// a count in the first one's series. Events of one namespace and reason are a flow: they are sent
// in order, and flows take turns, because a webhook that hangs does so for some of them. An event
// that fails for a reason of its own (500, no answer in time) is tried again later, and the others
// go on meanwhile; where the server is down, has too much to do or does not accept the credential,
// all wait, and one tries. What does not fit is dropped, from the longest flow, and counted.
//
// Thread-safe; destroyed on the loop's thread or after the loop has ended.
class RestEventRecorder : public EventRecorder {
 public:
  struct Options {
    RestClient* client = nullptr;  // whose identity the events have; outlives this
    std::string instance;          // which process: "host_uuid"
    Metrics* metrics = nullptr;    // outlives this
    Logger log = {};
    uint64_t seed = 0;  // of backoff

    size_t max_queue = 1000;   // calls, and events, that wait to be sent
    size_t max_series = 4096;  // that are remembered; half of them may wait for another try
    absl::Duration series_window = absl::Minutes(6);
    // The second observation is told at once, further ones no more often than this.
    absl::Duration series_period = absl::Seconds(30);
    absl::Duration request_timeout = absl::Seconds(10);
    int max_tries = 12;        // of one request
    size_t max_in_flight = 4;  // requests, of a flow too
    // A request without an answer for so long counts as slow, and not among those in flight.
    absl::Duration patience = absl::Seconds(1);
    size_t max_slow = 32;
  };

  // kInvalidArgument says which option is wrong.
  static absl::StatusOr<std::unique_ptr<RestEventRecorder>> Create(Options options);
  ~RestEventRecorder() override;

  void Record(const ObjectRef& regarding, EventType type, std::string_view reason,
              std::string_view action, std::string_view note) override;

  // Runs `done` on the loop, never inside this call, when what was recorded by now is sent or at
  // `deadline` (of Clock::TimeNow()). One at a time. Any thread.
  void Flush(absl::Time deadline, absl::AnyInvocable<void() &&> done);

 private:
  class Core;
  explicit RestEventRecorder(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;  // shared with tasks and requests
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_REST_EVENT_RECORDER_H_
