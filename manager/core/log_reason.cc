#include "manager/core/log_reason.h"

#include "manager/core/strings.h"

namespace mandate {

std::string LogReason(const absl::Status& status) {
  const std::string_view text = AsStd(status.message());
  const size_t manifest = text.find(":\napiVersion: ");
  if (manifest == std::string_view::npos) return std::string(text);
  const std::string_view before = text.substr(0, manifest);
  return StrCat(before.substr(0, before.rfind(". ")),
                "; /readyz?verbose shows the manifest to apply");
}

}  // namespace mandate
