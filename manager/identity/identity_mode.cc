#include "manager/identity/identity_mode.h"

#include "manager/core/closest_name.h"
#include "manager/core/strings.h"

namespace mandate {

absl::StatusOr<IdentityMode> ParseIdentityMode(std::string_view text) {
  if (text == "token") return IdentityMode::kToken;
  if (text == "impersonate") return IdentityMode::kImpersonate;
  if (text == "single") return IdentityMode::kSingle;
  return absl::InvalidArgumentError(StrCat("unknown identity mode \"", text,
                                           "\": choose token, impersonate or single",
                                           DidYouMean(text, {"token", "impersonate", "single"})));
}

}  // namespace mandate
