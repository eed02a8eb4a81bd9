// Whether this version of libcurl was tested.
#pragma once

#include <cstdint>
#include <string>

namespace mandate {

// libcurl does not report that a server promised not to have looked at a request (REFUSED_STREAM,
// or a GOAWAY that does not include it). The transport concludes it from what libcurl 7.88 does but
// does not promise: under RTSP's RECEIVE it sends nothing again; it leaves the error buffer empty;
// it notes a head's :status before it delivers the head. libcurl is linked dynamically, so that its
// security updates arrive without a release of ours; another version may behave differently.
struct CurlSupport {
  uint32_t version = 0;  // as LIBCURL_VERSION_NUM: 0x075801 is 7.88.1
  // The range of versions on which the tests ran.
  static constexpr uint32_t kOldestTested = 0x075801;
  static constexpr uint32_t kNewestTested = 0x075801;

  bool tested() const { return version >= kOldestTested && version <= kNewestTested; }
};

// "7.88.1".
std::string CurlVersionText(uint32_t version);

// The version of the library in this process.
uint32_t CurlVersionHere();

}  // namespace mandate
