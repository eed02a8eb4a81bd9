// The bounds and counters of HttpTransport.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "manager/core/log.h"

namespace mandate {

struct HttpOptions {
  // Streams per connection. One is kept free for the liveness probe. API servers allow 100.
  size_t streams_per_connection = 100;
  // Connections of all pools of calls together, and of all pools of streams (watches). Neither
  // class can take from the other. Requests without a connection wait.
  size_t max_call_connections = 64;
  size_t max_stream_connections = 192;
  // Each pool, and in a pool each component, may have this many times what is left free of
  // connections, of places on them, and of places to wait (core/fair_share.h).
  size_t component_share_factor = 4;
  // Requests waiting for a connection, per pool. Further requests end with kResourceExhausted.
  size_t max_queued_requests = 10'000;
  // Larger responses of Call() end with kResourceExhausted. Streams have no such bound: their sink
  // decides what it keeps.
  size_t max_response_bytes = size_t{64} << 20;
  size_t max_header_bytes = size_t{256} << 10;

  absl::Duration connect_timeout = absl::Seconds(10);
  // From Open() to the response's head.
  absl::Duration time_to_headers = absl::Seconds(30);
  // The longest that a call lasts, even if its context allows more.
  absl::Duration max_call_duration = absl::Minutes(5);
  // A connection with requests is probed if nothing has arrived on it for this time.
  absl::Duration read_idle_timeout = absl::Seconds(30);
  // It is closed, with all its requests, when nothing comes in this time either.
  absl::Duration probe_timeout = absl::Seconds(15);
  // How long the kernel tries to deliver data (TCP_USER_TIMEOUT).
  absl::Duration tcp_user_timeout = absl::Seconds(30);
  // When the first response on a connection takes longer than this, waiting requests get another
  // connection. When a request on a connection has timed out and nothing has come for longer than
  // this, new requests avoid the connection until something comes.
  absl::Duration suspect_connection_after = absl::Seconds(1);
  // A connection without requests is closed after this time.
  absl::Duration idle_timeout = absl::Seconds(60);
  // A connection that takes no more requests (GOAWAY) is closed after this time. Watches end by
  // themselves within 10 minutes.
  absl::Duration drain_timeout = absl::Minutes(11);
  // An endpoint's ca_file is read at most this often.
  absl::Duration ca_refresh = absl::Seconds(10);
  // The version of libcurl to assume (curl_support.h), as LIBCURL_VERSION_NUM. 0: the version that
  // libcurl reports.
  uint32_t curl_version = 0;
  Logger log = {};  // for the error that libcurl's version was not tested
};

struct HttpStats {
  uint64_t calls = 0;
  uint64_t streams = 0;
  uint64_t sockets_opened = 0;
  uint64_t connections_drained = 0;    // by GOAWAY, or closed by the server while in use
  uint64_t connections_lost = 0;       // probed without an answer
  uint64_t connections_suspected = 0;  // a request on them timed out in silence
  uint64_t probes = 0;
  uint64_t resends = 0;             // of requests that a failed connection certainly had not served
  uint64_t limited_waiting = 0;     // by max_queued_requests
  uint64_t limited_too_large = 0;   // by max_response_bytes or max_header_bytes
  uint64_t limited_connection = 0;  // by a bound on connections: the request waits longer
  uint64_t limited_share = 0;       // the request waited longer because its component had its share
  uint64_t ca_rotations = 0;
  uint64_t ca_errors = 0;  // a ca_file is unreadable or not PEM: its last good content is used

  // Current values:
  size_t connections = 0;
  size_t call_connections = 0;  // of these
  size_t stream_connections = 0;
  size_t active = 0;  // requests on connections
  size_t waiting = 0;
};

}  // namespace mandate
