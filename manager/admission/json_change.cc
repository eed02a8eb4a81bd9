#include "manager/admission/json_change.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

using Json::ArrayIndex;
using Json::Value;

// The elements that two arrays have in common at their beginnings and at their ends.
struct Ends {
  ArrayIndex head = 0;
  ArrayIndex tail = 0;
};

Ends CommonEnds(const Value& a, const Value& b) {
  Ends ends;
  const ArrayIndex shorter = std::min(a.size(), b.size());
  while (ends.head < shorter && a[ends.head] == b[ends.head]) ++ends.head;
  while (ends.head + ends.tail < shorter &&
         a[a.size() - 1 - ends.tail] == b[b.size() - 1 - ends.tail]) {
    ++ends.tail;
  }
  return ends;
}

// The index of each element between the ends by its "name"; nullopt unless all have one, each
// another.
std::optional<std::map<std::string, ArrayIndex>> Names(const Value& array, const Ends& ends) {
  std::map<std::string, ArrayIndex> names;
  for (ArrayIndex i = ends.head; i + ends.tail < array.size(); ++i) {
    const Value* name = FindMember(array[i], "name");
    if (name == nullptr || !name->isString()) return std::nullopt;
    if (!names.emplace(name->asString(), i).second) return std::nullopt;
  }
  return names;
}

Value ApplyToArray(const Value& whole, const Value& before, const Value& after) {
  const Ends ends = CommonEnds(before, after);
  const auto old_names = Names(before, ends);
  const auto new_names = Names(after, ends);
  const bool named = old_names.has_value() && new_names.has_value();
  Value result(Json::arrayValue);
  for (ArrayIndex i = 0; i < after.size(); ++i) {
    std::optional<ArrayIndex> from;  // the element of `before` that this one was
    if (i < ends.head) {
      from = i;
    } else if (i + ends.tail >= after.size()) {
      from = i + before.size() - after.size();
    } else if (named) {
      const auto old = old_names->find(after[i]["name"].asString());
      if (old != old_names->end()) from = old->second;
    } else if (before.size() == after.size()) {
      from = i;
    }
    result.append(from ? ApplyTypedChange(whole[*from], before[*from], after[i]) : after[i]);
  }
  return result;
}

Value ApplyToObject(const Value& whole, const Value& before, const Value& after) {
  Value result = whole;
  for (const std::string& key : before.getMemberNames()) {
    if (!after.isMember(key)) result.removeMember(key);
  }
  for (const std::string& key : after.getMemberNames()) {
    const Value* old = FindMember(before, key);
    const Value* whole_member = FindMember(whole, key);
    if (old != nullptr && *old == after[key]) continue;
    // A member that the type reads as absent, such as a null, has nothing to keep.
    result[key] = old == nullptr || whole_member == nullptr
                      ? after[key]
                      : ApplyTypedChange(*whole_member, *old, after[key]);
  }
  return result;
}

class PatchWriter {
 public:
  void Diff(const std::string& path, const Value& from, const Value& to) {
    if (from == to) return;
    if (from.isObject() && to.isObject()) return DiffObjects(path, from, to);
    if (from.isArray() && to.isArray()) return DiffArrays(path, from, to);
    Add("replace", path, &to);
  }
  Value Take() { return std::move(patch_); }

 private:
  static std::string Child(const std::string& path, std::string_view key) {
    return StrCat(path, "/", AsStd(absl::StrReplaceAll(AsAbsl(key), {{"~", "~0"}, {"/", "~1"}})));
  }

  void Add(const char* op, const std::string& path, const Value* value) {
    Value operation;
    operation["op"] = op;
    operation["path"] = path;
    if (value != nullptr) operation["value"] = *value;
    patch_.append(std::move(operation));
  }

  void DiffObjects(const std::string& path, const Value& from, const Value& to) {
    for (const std::string& key : from.getMemberNames()) {
      if (!to.isMember(key)) Add("remove", Child(path, key), nullptr);
    }
    for (const std::string& key : to.getMemberNames()) {
      const Value* old = FindMember(from, key);
      old == nullptr ? Add("add", Child(path, key), &to[key])
                     : Diff(Child(path, key), *old, to[key]);
    }
  }

  void DiffArrays(const std::string& path, const Value& from, const Value& to) {
    const Ends ends = CommonEnds(from, to);
    const ArrayIndex old_middle = from.size() - ends.head - ends.tail;
    const ArrayIndex new_middle = to.size() - ends.head - ends.tail;
    const ArrayIndex both = std::min(old_middle, new_middle);
    const auto at = [&](ArrayIndex i) { return StrCat(path, "/", ends.head + i); };
    for (ArrayIndex i = 0; i < both; ++i) Diff(at(i), from[ends.head + i], to[ends.head + i]);
    // From the back, so that the indexes of what is left stay.
    for (ArrayIndex i = old_middle; i > both; --i) Add("remove", at(i - 1), nullptr);
    for (ArrayIndex i = both; i < new_middle; ++i) Add("add", at(i), &to[ends.head + i]);
  }

  Value patch_ = Value(Json::arrayValue);
};

}  // namespace

Value ApplyTypedChange(const Value& whole, const Value& before, const Value& after) {
  if (before == after) return whole;
  if (whole.isObject() && before.isObject() && after.isObject()) {
    return ApplyToObject(whole, before, after);
  }
  if (whole.isArray() && before.isArray() && after.isArray() && whole.size() == before.size()) {
    return ApplyToArray(whole, before, after);
  }
  return after;
}

Value DiffToJsonPatch(const Value& from, const Value& to) {
  PatchWriter writer;
  writer.Diff("", from, to);
  return writer.Take();
}

}  // namespace mandate
