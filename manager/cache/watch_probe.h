// Checks whether the server accepts a watch, by opening one.
#ifndef MANAGER_CACHE_WATCH_PROBE_H_
#define MANAGER_CACHE_WATCH_PROBE_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/client/rest_client.h"

namespace mandate {

// Opens the watch and closes it as soon as the response begins; its events are not read. Loop
// thread only.
class WatchProbe {
 public:
  // OK: the server has accepted it. kDeadlineExceeded: no response within the timeout. Other errors
  // are those of RestClient::Watch.
  using Done = std::function<void(const absl::Status&)>;

  // `client` outlives this. `done` is called at most once, never inside the constructor, and may
  // destroy the probe.
  WatchProbe(RestClient& client, RestRequest request, absl::Duration timeout, Done done);
  // Cancels: `done` is not called afterwards.
  ~WatchProbe();
  WatchProbe(const WatchProbe&) = delete;
  WatchProbe& operator=(const WatchProbe&) = delete;

 private:
  class Session;
  std::shared_ptr<Session> session_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_WATCH_PROBE_H_
