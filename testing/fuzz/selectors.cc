// Label selectors in every form: a printed selector can be read again, and matching agrees with the
// definition of each operator.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "manager/object/selector.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

using Labels = std::map<std::string, std::string>;
using Operator = LabelRequirement::Operator;

// The meaning of one requirement, value by value.
bool Holds(const LabelRequirement& requirement, const Labels& labels) {
  const bool present = labels.count(requirement.key) > 0;
  bool among = false;
  for (const std::string& value : requirement.values) {
    if (present && labels.at(requirement.key) == value) among = true;
  }
  switch (requirement.op) {
    case Operator::kExists:
      return present;
    case Operator::kDoesNotExist:
      return !present;
    case Operator::kEquals:
    case Operator::kIn:
      return among;
    case Operator::kNotEquals:
    case Operator::kNotIn:
      return !among;
    case Operator::kGreater:
    case Operator::kLess: {
      int64_t value = 0, than = 0;
      if (!present || !absl::SimpleAtoi(labels.at(requirement.key), &value) ||
          !absl::SimpleAtoi(requirement.values.front(), &than)) {
        return false;
      }
      return requirement.op == Operator::kGreater ? value > than : value < than;
    }
  }
  return false;
}

// Sets of labels that the selector could treat differently: no labels, every value of every key,
// and an unknown value.
std::vector<Labels> Candidates(const LabelSelector& selector) {
  std::vector<Labels> candidates = {{}, {}};
  for (const LabelRequirement& requirement : selector.requirements()) {
    for (const std::string& value : requirement.values) {
      candidates.push_back({{requirement.key, value}});
      candidates[1][requirement.key] = value;
    }
    candidates.push_back({{requirement.key, "stranger"}});
    candidates[1].emplace(requirement.key, "");
    if (candidates.size() > 40) break;
  }
  return candidates;
}

void Check(const LabelSelector& selector) {
  const std::string text = selector.ToString();
  const auto again = LabelSelector::Parse(text);
  Require(again.ok(), "what is printed is read", text, again.status());
  Require(*again == selector, "what is printed reads back as itself", text, again->ToString());
  Require(selector.MatchesEverything() == text.empty(), "only nothing matches everything", text);
  for (const Labels& labels : Candidates(selector)) {
    const bool expected =
        std::all_of(selector.requirements().begin(), selector.requirements().end(),
                    [&](const LabelRequirement& r) { return Holds(r, labels); });
    Require(selector.Matches(labels) == expected, "all requirements hold, and nothing else", text);
  }
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate;
  using namespace mandate::fuzz;
  if (size > 4000) return 0;
  const std::string_view text = Text(data, size);
  if (const auto selector = LabelSelector::Parse(text); selector.ok()) Check(*selector);
  if (const auto selector = LabelSelector::FromJson(text); selector.ok()) Check(*selector);
  return 0;
}
