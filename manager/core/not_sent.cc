#include "manager/core/not_sent.h"

#include "absl/strings/cord.h"

namespace mandate {
namespace {

constexpr char kNotSentUrl[] = "mandate/not-sent";

}  // namespace

absl::Status MarkNotSent(absl::Status status) {
  status.SetPayload(kNotSentUrl, absl::Cord());
  return status;
}

bool WasNotSent(const absl::Status& status) { return status.GetPayload(kNotSentUrl).has_value(); }

}  // namespace mandate
