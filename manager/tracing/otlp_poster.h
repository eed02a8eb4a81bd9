// Posts bodies to a collector.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace mandate {

// The response to a post.
struct OtlpAnswer {
  int code = 0;                                    // of HTTP
  std::optional<absl::Duration> retry_after = {};  // the header Retry-After
  std::string body = {};                           // bounded
};

// Loop thread only.
class OtlpPoster {
 public:
  // kUnavailable: there was no response, and the body may be sent again. Other errors are final.
  using Done = absl::AnyInvocable<void(absl::StatusOr<OtlpAnswer>) &&>;

  virtual ~OtlpPoster() = default;

  // Posts `json`. Calls `done` once, later on the loop, after `timeout` (which is positive) at the
  // latest. One post at a time. `json` stays valid until `done` is called, or Cancel().
  virtual void Post(std::string_view json, absl::Duration timeout, Done done) = 0;
  // Ends the post, if there is one, without calling its `done`.
  virtual void Cancel() = 0;
};

}  // namespace mandate
