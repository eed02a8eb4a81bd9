#include "controllers/scope/summary.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

constexpr size_t kMaxListed = 10;

}  // namespace

std::string Summarise(const std::vector<std::string>& texts) {
  const size_t shown = std::min(texts.size(), kMaxListed);
  std::string text = absl::StrJoin(texts.begin(), texts.begin() + shown, "; ");
  if (texts.size() > shown) StrAppend(&text, "; and ", texts.size() - shown, " more");
  return text;
}

}  // namespace mandate::scope
