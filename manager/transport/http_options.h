// The bounds of HttpTransport, and what it counts.
#ifndef MANAGER_TRANSPORT_HTTP_OPTIONS_H_
#define MANAGER_TRANSPORT_HTTP_OPTIONS_H_

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "manager/core/log.h"

namespace mandate {

struct HttpOptions {
  // Per connection, one of them kept free for the liveness probe. API servers allow 100.
  size_t streams_per_connection = 100;
  // Of all pools of calls together, and of all pools of streams (watches): neither can take from
  // the other. What finds no room waits.
  size_t max_call_connections = 64;
  size_t max_stream_connections = 192;
  // Among pools, and within a pool among components: each may have at most so many times what is
  // left free of connections, of places on them, and of places to wait (core/fair_share.h).
  size_t share = 4;
  // Requests that wait for a connection, per pool; more are refused: kResourceExhausted.
  size_t max_waiting = 10'000;
  // Larger responses of Call() end with kResourceExhausted. Streams have no such bound: their sink
  // keeps what it likes.
  size_t max_response_bytes = size_t{64} << 20;
  size_t max_header_bytes = size_t{256} << 10;

  absl::Duration connect_timeout = absl::Seconds(10);
  // From Open() to the response's head.
  absl::Duration time_to_headers = absl::Seconds(30);
  // Calls whose context allows more are ended by then all the same.
  absl::Duration max_call_duration = absl::Minutes(5);
  // A connection with requests on it that has brought nothing for so long is probed…
  absl::Duration silence_limit = absl::Seconds(30);
  // …and closed, with all its requests, when nothing comes in this time either.
  absl::Duration probe_timeout = absl::Seconds(15);
  // How long the kernel tries to deliver (TCP_USER_TIMEOUT).
  absl::Duration tcp_user_timeout = absl::Seconds(30);
  // A connection whose first answer takes longer no longer keeps others waiting: they get another.
  // So do new requests where one has run out of time and nothing came for longer, until it does.
  absl::Duration patience = absl::Seconds(1);
  // A connection without requests is closed after this.
  absl::Duration idle_timeout = absl::Seconds(60);
  // A connection that takes no more requests (GOAWAY) is closed after this: watches end by
  // themselves within 10 minutes.
  absl::Duration drain_timeout = absl::Minutes(11);
  // An endpoint's ca_file is read again no more often than this.
  absl::Duration ca_refresh = absl::Seconds(10);
  // As LIBCURL_VERSION_NUM: what to take libcurl for (curl_support.h). 0: what it says that it is.
  uint32_t curl_version = 0;
  Logger log = {};  // where a version that was not tested is reported
};

struct HttpStats {
  uint64_t calls = 0;
  uint64_t streams = 0;
  uint64_t sockets_opened = 0;
  uint64_t connections_drained = 0;  // GOAWAY or closed by the server while in use
  uint64_t connections_lost = 0;     // probed and found dead
  uint64_t connections_doubted = 0;  // a request on them ran out of time in silence
  uint64_t probes = 0;
  uint64_t resends = 0;             // requests that a failed connection had surely not served
  uint64_t refused_waiting = 0;     // max_waiting was hit
  uint64_t refused_too_large = 0;   // max_response_bytes or max_header_bytes was hit
  uint64_t refused_connection = 0;  // a bound on connections was hit: something waits longer
  uint64_t refused_share = 0;  // requests that waited longer since their component had its share
  uint64_t ca_rotations = 0;
  uint64_t ca_errors = 0;  // a ca_file could not be read, or is no PEM: the last good one is used

  // Now:
  size_t connections = 0;
  size_t call_connections = 0;  // of these, and
  size_t stream_connections = 0;
  size_t active = 0;  // requests on a connection
  size_t waiting = 0;
};

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_HTTP_OPTIONS_H_
