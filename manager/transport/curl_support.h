// Whether libcurl is one whose behaviour is known.
#ifndef MANAGER_TRANSPORT_CURL_SUPPORT_H_
#define MANAGER_TRANSPORT_CURL_SUPPORT_H_

#include <cstdint>
#include <string>

namespace mandate {

// libcurl does not report why a request failed: that its server promised not to have looked at it
// (REFUSED_STREAM, a GOAWAY that leaves it out) is concluded from what libcurl 7.88 does, and does
// not promise to do: it sends nothing again under RTSP's RECEIVE, leaves the error buffer empty,
// and notes a head's :status before it hands the head on. libcurl is linked dynamically, so that
// its security updates arrive without a release; another version may behave in another way.
struct CurlSupport {
  uint32_t version = 0;  // as LIBCURL_VERSION_NUM: 0x075801 is 7.88.1
  // The versions on which the tests ran.
  static constexpr uint32_t kOldestTested = 0x075801;
  static constexpr uint32_t kNewestTested = 0x075801;

  bool tested() const { return version >= kOldestTested && version <= kNewestTested; }
};

// "7.88.1".
std::string CurlVersionText(uint32_t version);

// The version of the library that this process runs with.
uint32_t CurlVersionHere();

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_CURL_SUPPORT_H_
