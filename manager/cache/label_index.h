// Values that belong to label selectors, found by the labels of an object.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "manager/object/selector.h"

namespace mandate {

// A selector is indexed by the first label that must have one value. So a lookup takes time in
// proportion to the labels, the values found, and the selectors without such a label. Not
// thread-safe.
template <class T>
class LabelIndex {
 public:
  using Labels = std::map<std::string, std::string>;

  bool empty() const { return by_label_.empty() && others_.empty(); }

  // A value that is there already stays, once.
  void Insert(const LabelSelector& selector, const T& value) {
    const LabelRequirement* term = TermOf(selector);
    (term == nullptr ? others_ : by_label_[LabelOf(*term)]).insert(value);
  }
  // `selector` is the one with which the value was inserted.
  void Erase(const LabelSelector& selector, const T& value) {
    const LabelRequirement* term = TermOf(selector);
    if (term == nullptr) {
      others_.erase(value);
      return;
    }
    const auto found = by_label_.find(LabelOf(*term));
    if (found == by_label_.end()) return;
    found->second.erase(value);
    if (found->second.empty()) by_label_.erase(found);
  }
  bool Contains(const LabelSelector& selector, const T& value) const {
    const LabelRequirement* term = TermOf(selector);
    if (term == nullptr) return others_.contains(value);
    const auto found = by_label_.find(LabelOf(*term));
    return found != by_label_.end() && found->second.contains(value);
  }

  // Calls `found` for each value whose selector may match. The selector may have more requirements:
  // the caller checks them.
  template <class Found>
  void ForEachCandidate(const Labels& labels, Found found) const {
    if (!by_label_.empty()) {
      for (const auto& label : labels) {
        const auto values = by_label_.find(Label(label.first, label.second));
        if (values == by_label_.end()) continue;
        for (const T& value : values->second) found(value);
      }
    }
    for (const T& value : others_) found(value);
  }
  // How many of them there are. Takes no time for each.
  size_t CountCandidates(const Labels& labels) const {
    size_t count = others_.size();
    for (const auto& label : labels) {
      const auto values = by_label_.find(Label(label.first, label.second));
      if (values != by_label_.end()) count += values->second.size();
    }
    return count;
  }
  template <class Found>
  void ForEach(Found found) const {
    for (const auto& [label, values] : by_label_) {
      for (const T& value : values) found(value);
    }
    for (const T& value : others_) found(value);
  }

 private:
  using Label = std::pair<std::string, std::string>;

  static Label LabelOf(const LabelRequirement& term) { return {term.key, term.values.front()}; }
  // Null: no label must have one value.
  static const LabelRequirement* TermOf(const LabelSelector& selector) {
    for (const LabelRequirement& requirement : selector.requirements()) {
      const bool has_values = requirement.op == LabelRequirement::Operator::kEquals ||
                              requirement.op == LabelRequirement::Operator::kIn;
      if (has_values && requirement.values.size() == 1) return &requirement;
    }
    return nullptr;
  }

  absl::flat_hash_map<Label, absl::flat_hash_set<T>> by_label_;
  absl::flat_hash_set<T> others_;  // selectors without such a label
};

}  // namespace mandate
