#include "testing/apiserver/http_head.h"

#include "absl/strings/numbers.h"

namespace mandate::apiserver {

HttpResponse ToHead(const Response& response) {
  HttpResponse head;
  head.code = response.code;
  for (const auto& [name, value] : response.headers) {
    int seconds = 0;
    if (name == "content-type") head.content_type = value;
    if (name == "retry-after" && absl::SimpleAtoi(value, &seconds)) {
      head.retry_after = absl::Seconds(seconds);
    }
    // Removes the prefix and the quotes of: 299 - "the text"
    const size_t quote = value.find('"');
    if (name == "warning" && quote != value.npos && value.size() > quote + 1) {
      head.warnings.push_back(value.substr(quote + 1, value.size() - quote - 2));
    }
  }
  return head;
}

}  // namespace mandate::apiserver
