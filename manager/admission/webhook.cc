#include "manager/admission/webhook.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"

namespace mandate {

std::string WebhookPath(WebhookType type, const KindInfo& kind) {
  std::string group(kind.group);
  std::replace(group.begin(), group.end(), '.', '-');
  return StrCat(type == WebhookType::kMutating ? "/mutate-" : "/validate-", group, "-",
                kind.version, "-", absl::AsciiStrToLower(AsAbsl(kind.kind)));
}

absl::Status UnknownOperation(std::string_view operation) {
  return absl::InvalidArgumentError(StrCat("unknown operation \"", operation,
                                           "\"; it must be CREATE, UPDATE, DELETE or CONNECT"));
}

}  // namespace mandate
