#include "manager/cache/not_served.h"

#include "manager/core/strings.h"

namespace mandate {

absl::Status NotServed(const KindInfo& kind, const absl::Status& why) {
  absl::Status reason(
      why.code(), StrCat("the API server does not serve ", kind.plural, " of ", kind.ApiVersion(),
                         kind.encoding == Encoding::kJson
                             ? "; apply its CustomResourceDefinition. The API server says: "
                             : ". The API server says: ",
                         AsStd(why.message())));
  why.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { reason.SetPayload(url, payload); });
  return reason;
}

}  // namespace mandate
