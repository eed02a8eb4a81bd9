// The LIST and WATCH requests of a demand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "manager/cache/cache_view.h"
#include "manager/client/rest_client.h"

namespace mandate {

// A query for the newest state.
struct ListQuery {
  int limit = 0;  // 0: no pages
  std::string continue_token;
};

struct WatchQuery {
  std::string resource_version;
  bool initial_events = false;  // KEP-3157, WatchList
  absl::Duration timeout;
};

// `encoding` is the requested one; EncodingOf() returns the received one.
RestRequest ListRequest(const DemandSpec& spec, Encoding encoding, const ListQuery& query);
RestRequest WatchRequest(const DemandSpec& spec, Encoding encoding, const WatchQuery& query);

// The encoding of a response, by its Content-Type.
Encoding EncodingOf(std::string_view content_type);

}  // namespace mandate
