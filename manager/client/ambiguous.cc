#include "manager/client/ambiguous.h"

#include "absl/strings/cord.h"
#include "manager/core/not_sent.h"

namespace mandate {
namespace {

constexpr char kAmbiguousUrl[] = "mandate/ambiguous";

}  // namespace

absl::Status Ambiguous(absl::Status status) {
  // Only the last attempt was certainly not sent: an earlier one may have been carried out.
  if (WasNotSent(status)) status = absl::Status(status.code(), status.message());
  status.SetPayload(kAmbiguousUrl, absl::Cord());
  return status;
}

bool IsAmbiguous(const absl::Status& status) {
  return status.GetPayload(kAmbiguousUrl).has_value();
}

}  // namespace mandate
