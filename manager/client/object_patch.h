// Patches with a precondition on the object that they change.
//
//   ASSIGN_OR_RETURN(auto patch, MergePatch::IfUnchanged(binding,
//   R"({"metadata":{"labels":{"a":null}}})")); client.Patch<RoleBinding>(context, KeyOf(binding),
//   patch);
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

namespace mandate {

// An RFC 7386 merge patch. Immutable.
class MergePatch {
 public:
  // A patch of `read`, an object that came from the server. The server answers Conflict (409) if
  // the object has changed since. kInvalidArgument if `json` is not an object, or `read` has no
  // resourceVersion.
  static absl::StatusOr<MergePatch> IfUnchanged(const google::protobuf::Message& read,
                                                std::string_view json);
  // A patch that overwrites concurrent changes of others, lists included.
  static MergePatch Unconditional(std::string json) { return MergePatch(std::move(json)); }

  const std::string& json() const { return json_; }

 private:
  explicit MergePatch(std::string json) : json_(std::move(json)) {}

  std::string json_;
};

// An RFC 6902 JSON patch. Immutable.
class JsonPatch {
 public:
  // The same as MergePatch::IfUnchanged; `json` is a list of operations.
  static absl::StatusOr<JsonPatch> IfUnchanged(const google::protobuf::Message& read,
                                               std::string_view json);
  // A patch whose only conditions are its operations of kind "test".
  static JsonPatch Unconditional(std::string json) { return JsonPatch(std::move(json)); }

  const std::string& json() const { return json_; }

 private:
  explicit JsonPatch(std::string json) : json_(std::move(json)) {}

  std::string json_;
};

using Patch = std::variant<MergePatch, JsonPatch>;

}  // namespace mandate
