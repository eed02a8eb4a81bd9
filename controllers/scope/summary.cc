#include "controllers/scope/summary.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

constexpr size_t kMaxListed = 10;

}  // namespace

void Summary::Add(std::string text) {
  ++size_;
  if (shown_.size() < kMaxListed) shown_.push_back(std::move(text));
}

std::string Summary::Text() const {
  std::string text = absl::StrJoin(shown_, "; ");
  if (size_ > shown_.size()) StrAppend(&text, "; and ", size_ - shown_.size(), " more");
  return text;
}

std::string Summarise(const std::vector<std::string>& texts) {
  Summary summary;
  for (const std::string& text : texts) summary.Add(text);
  return summary.Text();
}

}  // namespace mandate::scope
