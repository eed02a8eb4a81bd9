#include "controllers/conditions.h"

#include <algorithm>

#include "manager/core/printable.h"
#include "manager/core/strings.h"
#include "manager/core/utf8.h"

namespace mandate {
namespace {

constexpr size_t kMaxMessage = 32768;

// At most `limit` bytes, with the ellipsis.
std::string Cut(const std::string& text, size_t limit) {
  if (text.size() <= limit) return text;
  static constexpr std::string_view kEllipsis = "…";
  return StrCat(Utf8Prefix(text, limit - kEllipsis.size()), kEllipsis);
}

bool Same(const ConditionProto& a, const ConditionProto& b) {
  return a.type() == b.type() && a.status() == b.status() && a.reason() == b.reason() &&
         a.message() == b.message() && a.observedgeneration() == b.observedgeneration();
}

}  // namespace

const ConditionProto* FindCondition(const ConditionList& conditions, std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const ConditionProto& c) { return c.type() == type; });
  return found == conditions.end() ? nullptr : &*found;
}

ConditionList MakeConditions(const std::vector<DesiredCondition>& desired,
                             const ConditionList& current, int64_t generation, absl::Time now) {
  ConditionList result;
  for (const DesiredCondition& d : desired) {
    ConditionProto& c = *result.Add();
    c.set_type(d.type);
    c.set_status(d.status ? "True" : "False");
    c.set_reason(d.reason);
    c.set_message(Cut(Printable(d.message), kMaxMessage));
    c.set_observedgeneration(d.observed_generation.value_or(generation));
    const ConditionProto* before = FindCondition(current, d.type);
    if (before != nullptr && before->status() == c.status()) {
      *c.mutable_lasttransitiontime() = before->lasttransitiontime();
    } else {
      c.mutable_lasttransitiontime()->set_seconds(absl::ToUnixSeconds(now));
    }
  }
  return result;
}

absl::Status CheckTypes(const std::vector<DesiredCondition>& desired,
                        std::initializer_list<std::string_view> own_types) {
  for (const DesiredCondition& one : desired) {
    if (std::ranges::find(own_types, one.type) != own_types.end()) continue;
    return absl::InternalError(
        StrCat("condition ", one.type, " is not among the types that this controller reports"));
  }
  return absl::OkStatus();
}

bool ConditionsUpToDate(const ConditionList& current, const ConditionList& wanted,
                        std::initializer_list<std::string_view> own_types) {
  return std::all_of(own_types.begin(), own_types.end(), [&](std::string_view type) {
    const ConditionProto* is = FindCondition(current, type);
    const ConditionProto* should_be = FindCondition(wanted, type);
    if (is == nullptr || should_be == nullptr) return is == should_be;
    return Same(*is, *should_be);
  });
}

const ConditionProto* FindFalse(const ConditionList& conditions, std::string_view type,
                                int64_t generation) {
  const ConditionProto* found = FindCondition(conditions, type);
  const bool is_false =
      found != nullptr && found->status() == "False" && found->observedgeneration() == generation;
  return is_false ? found : nullptr;
}

}  // namespace mandate
