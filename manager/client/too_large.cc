#include "manager/client/too_large.h"

#include "absl/strings/cord.h"

namespace mandate {
namespace {

constexpr char kUrl[] = "mandate/too-large";

}  // namespace

absl::Status MarkTooLarge(absl::Status status) {
  status.SetPayload(kUrl, absl::Cord());
  return status;
}

bool IsTooLarge(const absl::Status& status) { return status.GetPayload(kUrl).has_value(); }

}  // namespace mandate
