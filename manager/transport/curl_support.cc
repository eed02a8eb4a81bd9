#include "manager/transport/curl_support.h"

#include <curl/curl.h>

#include "absl/strings/str_cat.h"

namespace mandate {

std::string CurlVersionText(uint32_t version) {
  return absl::StrCat((version >> 16) & 0xff, ".", (version >> 8) & 0xff, ".", version & 0xff);
}

uint32_t CurlVersionHere() { return curl_version_info(CURLVERSION_NOW)->version_num; }

}  // namespace mandate
