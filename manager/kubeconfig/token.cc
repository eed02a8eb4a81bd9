#include "manager/kubeconfig/token.h"

#include "manager/core/strings.h"

namespace mandate {

std::string Token::DebugString() const {
  return StrCat("Token(", subject, ", expires ",
                expires == absl::InfiniteFuture()
                    ? "unknown"
                    : absl::FormatTime(absl::RFC3339_sec, expires, absl::UTCTimeZone()),
                ", ", value == nullptr ? 0 : value->size(), " bytes)");
}

}  // namespace mandate
