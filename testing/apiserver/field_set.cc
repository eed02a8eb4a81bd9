#include "testing/apiserver/field_set.h"

#include <set>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::apiserver {
namespace {

// The parts of a value by their steps.
struct Part {
  const Json::Value* value;
  Shape shape;
};
std::map<std::string, Part> PartsOf(const Json::Value& value, const Shape& shape) {
  std::map<std::string, Part> parts;
  switch (const Merging merging = shape.MergingOf(value)) {
    case Merging::kAtomic:
      break;
    case Merging::kStruct:
    case Merging::kMap:
      for (const std::string& name : value.getMemberNames()) {
        parts.emplace(StepTo(name), Part{&value[name], shape.Member(name)});
      }
      break;
    case Merging::kList:
    case Merging::kSet:
      for (const Json::Value& item : value) {
        parts.emplace(StepTo(item, shape, merging), Part{&item, shape.Item()});
      }
      break;
  }
  return parts;
}

void AddApplied(const Json::Value& value, const Shape& shape, FieldSet& set) {
  const Merging merging = shape.MergingOf(value);
  if (merging == Merging::kAtomic) {
    set.member = true;
    return;
  }
  for (const auto& [step, part] : PartsOf(value, shape)) {
    FieldSet& child = set.children[step];
    if (merging == Merging::kSet || part.value->isNull() ||
        (part.value->isObject() && part.value->empty())) {
      child.member = true;
      continue;
    }
    AddApplied(*part.value, part.shape, child);
    if (merging != Merging::kStruct) child.member = true;
    // The path of an atomic item has only its keys.
    if (child.empty()) set.children.erase(step);
  }
}

void AddEverything(const Json::Value& value, const Shape& shape, FieldSet& set) {
  set.member = true;
  for (const auto& [step, part] : PartsOf(value, shape)) {
    AddEverything(*part.value, part.shape, set.children[step]);
  }
}

void AddChanges(const Json::Value& old, const Json::Value& now, const Shape& shape,
                FieldSet& changed, FieldSet& removed) {
  const Merging before = shape.MergingOf(old);
  if (before != shape.MergingOf(now) || before == Merging::kAtomic) {
    if (WriteJson(old) != WriteJson(now)) changed.member = true;
    return;
  }
  const auto old_parts = PartsOf(old, shape);
  const auto now_parts = PartsOf(now, shape);
  for (const auto& [step, part] : now_parts) {
    const auto same = old_parts.find(step);
    FieldSet child;
    FieldSet gone;
    if (same == old_parts.end()) {
      AddEverything(*part.value, part.shape, child);
    } else {
      AddChanges(*same->second.value, *part.value, part.shape, child, gone);
    }
    if (!child.empty()) changed.children[step] = std::move(child);
    if (!gone.empty()) removed.children[step] = std::move(gone);
  }
  for (const auto& [step, part] : old_parts) {
    if (now_parts.contains(step)) continue;
    AddEverything(*part.value, part.shape, removed.children[step]);
  }
}

std::string Readable(const std::string& step) {
  const std::string rest = step.substr(2);
  if (step.starts_with("f:")) return "." + rest;
  if (step.starts_with("v:")) return StrCat("[=", rest, "]");
  if (!step.starts_with("k:")) return StrCat("[", rest, "]");
  std::string out;
  const Json::Value keys = ParseJson(rest).value_or(Json::Value(Json::objectValue));
  for (const std::string& name : keys.getMemberNames()) {
    StrAppend(&out, out.empty() ? "" : ",", name, "=", WriteJson(keys[name]));
  }
  return StrCat("[", out, "]");
}

// Appends the paths of one depth before those below them.
void AddPaths(const FieldSet& set, const std::string& path, std::vector<std::string>& paths) {
  for (const auto& [step, child] : set.children) {
    if (child.member) paths.push_back(path + Readable(step));
  }
  for (const auto& [step, child] : set.children) AddPaths(child, path + Readable(step), paths);
}

}  // namespace

std::string StepTo(const Json::Value& item, const Shape& list, Merging merging) {
  if (merging == Merging::kSet) return "v:" + WriteJson(item);
  Json::Value keys(Json::objectValue);
  for (const std::string& key : list.keys()) {
    const Json::Value* value = FindMember(item, key);
    if (value != nullptr) keys[key] = *value;
  }
  return "k:" + WriteJson(keys);
}

FieldSet FieldSet::FromJson(const Json::Value& fields) {
  FieldSet set;
  if (!fields.isObject()) return set;
  for (const std::string& step : fields.getMemberNames()) {
    if (step == ".") {
      set.member = true;
      continue;
    }
    FieldSet child = FromJson(fields[step]);
    if (child.empty()) child.member = true;
    set.children[step] = std::move(child);
  }
  return set;
}

Json::Value FieldSet::ToJson() const {
  Json::Value out(Json::objectValue);
  if (member && !children.empty()) out["."] = Json::Value(Json::objectValue);
  for (const auto& [step, child] : children) out[step] = child.ToJson();
  return out;
}

FieldSet FieldSet::Applied(const Json::Value& value, const Shape& shape) {
  FieldSet set;
  AddApplied(value, shape, set);
  return set;
}

FieldSet FieldSet::Everything(const Json::Value& value, const Shape& shape) {
  FieldSet set;
  AddEverything(value, shape, set);
  return set;
}

FieldSet FieldSet::Union(const FieldSet& other) const {
  FieldSet out = *this;
  out.member |= other.member;
  for (const auto& [step, child] : other.children) {
    const FieldSet* mine = Child(step);
    out.children[step] = mine == nullptr ? child : mine->Union(child);
  }
  return out;
}

FieldSet FieldSet::Minus(const FieldSet& other) const {
  FieldSet out;
  out.member = member && !other.member;
  for (const auto& [step, child] : children) {
    const FieldSet* theirs = other.Child(step);
    FieldSet left = theirs == nullptr ? child : child.Minus(*theirs);
    if (!left.empty()) out.children[step] = std::move(left);
  }
  return out;
}

FieldSet FieldSet::Intersection(const FieldSet& other) const {
  FieldSet out;
  out.member = member && other.member;
  for (const auto& [step, child] : children) {
    const FieldSet* theirs = other.Child(step);
    if (theirs == nullptr) continue;
    FieldSet both = child.Intersection(*theirs);
    if (!both.empty()) out.children[step] = std::move(both);
  }
  return out;
}

const FieldSet* FieldSet::Child(const std::string& step) const {
  const auto found = children.find(step);
  return found == children.end() ? nullptr : &found->second;
}

std::vector<std::string> FieldSet::Paths() const {
  std::vector<std::string> paths;
  AddPaths(*this, "", paths);
  return paths;
}

FieldChanges Compare(const Json::Value& old, const Json::Value& now, const Shape& shape) {
  const Json::Value nothing(Json::objectValue);
  FieldChanges changes;
  AddChanges(old.isNull() ? nothing : old, now.isNull() ? nothing : now, shape, changes.changed,
             changes.removed);
  return changes;
}

}  // namespace mandate::apiserver
