#include "testing/apiserver/configuration.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/field_set.h"
#include "testing/apiserver/object_io.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/schema.h"
#include "testing/apiserver/shape.h"
#include "testing/apiserver/unknown_members.h"

namespace mandate::apiserver {
namespace {

// The first repeated item of a list with keys or of a set; nullopt if there is none.
std::optional<std::string> FindDuplicate(const Json::Value& value, const Shape& shape,
                                         const std::string& path) {
  const Merging merging = shape.MergingOf(value);
  if (value.isArray() && (merging == Merging::kList || merging == Merging::kSet)) {
    std::set<std::string> seen;
    for (const Json::Value& item : value) {
      const std::string step = StepTo(item, shape, merging);
      if (!seen.insert(step).second) {
        return StrCat(path, ": duplicate entries for key ", step.substr(2));
      }
      if (auto found = FindDuplicate(item, shape.Item(), StrCat(path, "[", step, "]")))
        return found;
    }
  }
  if (!value.isObject() || merging == Merging::kAtomic) return std::nullopt;
  for (const std::string& name : value.getMemberNames()) {
    const std::string member = StrCat(path, ".", name);
    if (auto found = FindDuplicate(value[name], shape.Member(name), member)) return found;
  }
  return std::nullopt;
}

// The first invalid item of a list with keys or of a set; nullopt if there is none.
std::optional<std::string> FindUnkeyed(const Json::Value& value, const Shape& shape,
                                       const std::string& path) {
  const Merging merging = shape.MergingOf(value);
  if (value.isArray() && (merging == Merging::kList || merging == Merging::kSet)) {
    for (Json::ArrayIndex i = 0; i < value.size(); ++i) {
      const std::string item = StrCat(path, ": element ", i, ": associative list ");
      if (merging == Merging::kSet) {
        if (!value[i].isNull()) continue;
        return item + "without keys has an element that's an explicit null";
      }
      if (value[i].isNull()) return item + "with keys may not have a null element";
      if (!value[i].isObject()) return item + "with keys may not have non-map elements";
      if (auto found = FindUnkeyed(value[i], shape.Item(), StrCat(path, "[", i, "]"))) return found;
    }
  }
  if (!value.isObject() || merging == Merging::kAtomic) return std::nullopt;
  for (const std::string& name : value.getMemberNames()) {
    if (auto found = FindUnkeyed(value[name], shape.Member(name), StrCat(path, ".", name))) {
      return found;
    }
  }
  return std::nullopt;
}

// The error of the configuration; nullopt if it is valid.
std::optional<std::string> Problem(const Json::Value& config, const ResourceType& type) {
  Json::Value readable = config;
  // A time of a custom kind may be anything except for a list or an object.
  if (type.custom()) DropUnreadableTimes(readable);
  if (const auto normal = Normalise(readable, type); !normal.ok()) {
    return std::string(AsStd(normal.status().message()));
  }
  const std::vector<std::string> unknown = UnknownMembers(config, type);
  if (!unknown.empty()) return StrCat(".", unknown[0], ": field not declared in schema");
  if (type.custom()) {
    if (auto problem = FindUnkeyed(config, Shape::Of(type), "")) return problem;
    if (auto problem = type.schema->TypeProblem(config)) return problem;
  }
  return FindDuplicate(config, Shape::Of(type), "");
}

}  // namespace

absl::Status CheckConfiguration(const Json::Value& config, const ResourceType& type) {
  const auto problem = Problem(config, type);
  if (!problem) return absl::OkStatus();
  return PlainError(StrCat("failed to create typed patch object (", MetaString(config, "namespace"),
                           "/", MetaString(config, "name"), "; ", type.name.group, "/",
                           type.version, ", Kind=", type.kind, "): ", *problem));
}

}  // namespace mandate::apiserver
