#include "testing/apiserver/field_merge.h"

#include <map>
#include <string>
#include <utility>

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

}  // namespace

Json::Value MergeFields(const Json::Value& live, const Json::Value& wanted, const Shape& shape) {
  // Null has no members to merge into.
  if (wanted.isNull() && shape.MergingOf(live) != Merging::kAtomic) return live;
  const Merging merging = shape.MergingOf(wanted);
  if (merging == Merging::kAtomic || live.type() != wanted.type()) return wanted;
  Json::Value out = live;
  if (merging == Merging::kStruct || merging == Merging::kMap) {
    for (const std::string& name : wanted.getMemberNames()) {
      out[name] = live.isMember(name) ? MergeFields(live[name], wanted[name], shape.Member(name))
                                      : wanted[name];
    }
    return out;
  }
  std::map<std::string, Json::ArrayIndex> places;
  for (Json::ArrayIndex i = 0; i < live.size(); ++i) places[StepTo(live[i], shape, merging)] = i;
  for (const Json::Value& item : wanted) {
    const auto place = places.find(StepTo(item, shape, merging));
    if (place == places.end()) {
      out.append(item);
    } else {
      out[place->second] = MergeFields(live[place->second], item, shape.Item());
    }
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
