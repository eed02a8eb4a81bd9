#include "testing/apiserver/field_merge.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mandate::apiserver {
namespace {

const FieldSet& None() {
  static const auto& none = *new FieldSet;
  return none;
}

const FieldSet& ChildOf(const FieldSet& set, const std::string& step) {
  const FieldSet* child = set.Child(step);
  return child == nullptr ? None() : *child;
}

// Whether the part at `step` is removed as a whole, including its unmanaged fields. `declared`: the
// schema declares it, so it is removed as soon as any field in it is.
bool Goes(const FieldSet& removed, const FieldSet& kept, const std::string& step, bool declared) {
  const FieldSet& part = ChildOf(removed, step);
  return (declared ? !part.empty() : part.member) && ChildOf(kept, step).empty();
}

// The wanted items have their order, and each item of others stays behind what it follows.
Json::Value MergeItems(const Json::Value& live, const Json::Value& wanted, const Shape& shape,
                       Merging merging) {
  std::map<std::string, const Json::Value*> in_live;
  for (const Json::Value& item : live) in_live[StepTo(item, shape, merging)] = &item;
  std::set<std::string> in_wanted;
  std::vector<std::string> shared;
  for (const Json::Value& item : wanted) {
    const std::string step = StepTo(item, shape, merging);
    if (in_live.contains(step)) shared.push_back(step);
    in_wanted.insert(step);
  }
  Json::Value out(Json::arrayValue);
  size_t next = 0;  // of `shared`
  Json::ArrayIndex from_live = 0, from_wanted = 0;
  while (from_live < live.size() || from_wanted < wanted.size()) {
    if (from_live < live.size()) {
      const std::string step = StepTo(live[from_live], shape, merging);
      const bool foreign = !in_wanted.contains(step);
      if (foreign) out.append(live[from_live]);
      if (foreign || next == shared.size() || shared[next] != step) {
        ++from_live;
        continue;
      }
    }
    const Json::Value& item = wanted[from_wanted++];
    const auto present = in_live.find(StepTo(item, shape, merging));
    if (present == in_live.end()) {
      out.append(item);
      continue;
    }
    out.append(MergeFields(*present->second, item, shape.Item()));
    ++next;
  }
  return out;
}

}  // namespace

Json::Value MergeFields(const Json::Value& live, const Json::Value& wanted, const Shape& shape) {
  // Null has no members to merge into.
  if (wanted.isNull() && shape.MergingOf(live) != Merging::kAtomic) return live;
  const Merging merging = shape.MergingOf(wanted);
  if (merging == Merging::kAtomic || live.type() != wanted.type()) return wanted;
  if (merging != Merging::kStruct && merging != Merging::kMap) {
    return MergeItems(live, wanted, shape, merging);
  }
  Json::Value out = live;
  for (const std::string& name : wanted.getMemberNames()) {
    out[name] = live.isMember(name) ? MergeFields(live[name], wanted[name], shape.Member(name))
                                    : wanted[name];
  }
  return out;
}

Json::Value RemoveFields(Json::Value value, const FieldSet& removed, const FieldSet& kept,
                         const Shape& shape) {
  const Merging merging = shape.MergingOf(value);
  if (removed.empty() || merging == Merging::kAtomic) return value;
  if (merging == Merging::kStruct || merging == Merging::kMap) {
    for (const std::string& name : value.getMemberNames()) {
      const std::string step = StepTo(name);
      if (Goes(removed, kept, step, merging == Merging::kStruct)) {
        value.removeMember(name);
        continue;
      }
      const bool had = !value[name].empty();
      value[name] = RemoveFields(std::move(value[name]), ChildOf(removed, step),
                                 ChildOf(kept, step), shape.Member(name));
      // A container that had only removed fields has been removed, too.
      if (had && !value[name].isNull() && value[name].empty() && ChildOf(kept, step).empty()) {
        value.removeMember(name);
      }
    }
    return value;
  }
  Json::Value left(Json::arrayValue);
  for (Json::Value& item : value) {
    const std::string step = StepTo(item, shape, merging);
    if (Goes(removed, kept, step, /*declared=*/false)) continue;
    left.append(
        RemoveFields(std::move(item), ChildOf(removed, step), ChildOf(kept, step), shape.Item()));
  }
  return left;
}

}  // namespace mandate::apiserver
