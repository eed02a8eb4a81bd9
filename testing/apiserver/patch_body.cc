#include "testing/apiserver/patch_body.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/object_io.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/patch.h"
#include "testing/apiserver/write_query.h"

namespace mandate::apiserver {
namespace {

constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kStrategicPatch[] = "application/strategic-merge-patch+json";
constexpr char kApplyPatch[] = "application/apply-patch+yaml";

// The part after "cannot be handled as a X: " in the error of a kind.
std::string WhyUnreadable(const absl::Status& status) {
  const std::string_view message = AsStd(status.message());
  const size_t colon = message.find("cannot be handled as a ");
  const size_t why = colon == message.npos ? message.npos : message.find(": ", colon);
  return std::string(why == message.npos ? message : message.substr(why + 2));
}

absl::Status NoPatch() { return BadRequest("Invalid JSON Patch"); }

// A 422 without a cause.
absl::Status Rejected() {
  ApiStatusProto status = *ApiStatus(
      ApiErrorOf(422, "Invalid", "the server rejected our request due to an error in our request"));
  status.mutable_details();
  return StatusFromApi(status);
}

// Whether the JSON pointer leads to an absent member of an existing object.
bool IsMissing(const Json::Value& object, std::string_view pointer) {
  const Json::Value* at = &object;
  while (pointer.starts_with('/')) {
    pointer.remove_prefix(1);
    const std::string name(pointer.substr(0, pointer.find('/')));
    pointer.remove_prefix(name.size());
    if (!at->isObject()) return false;
    at = FindMember(*at, name);
    if (at == nullptr) return pointer.empty();
  }
  return false;
}

// The server's library ignores the text before a pointer's first slash. False if there is no slash:
// such a pointer leads nowhere.
bool SkipToSlash(Json::Value& operation) {
  for (const char* member : {"path", "from"}) {
    if (!operation.isObject() || !operation.isMember(member)) continue;
    const std::string pointer = StringAt(operation, member);
    const size_t slash = pointer.find('/');
    if (slash == pointer.npos) return false;
    operation[member] = pointer.substr(slash);
  }
  return true;
}

// Parses a number like Go's strconv.Atoi.
std::optional<int64_t> ReadIndex(std::string_view text) {
  int64_t index = 0;
  if (text.empty() || text.find_first_not_of("+-0123456789") != text.npos) return std::nullopt;
  if (!absl::SimpleAtoi(AsAbsl(text), &index)) return std::nullopt;
  return index;
}

std::string Unescaped(std::string_view name) {
  return absl::StrReplaceAll(AsAbsl(name), {{"~1", "/"}, {"~0", "~"}});
}

// Replaces indexes as the server's library does: it parses them as any number, and counts a
// negative one from the end. `adds`: the last step may be the end. Sets `in_list` if it leads to a
// list item.
std::string CountFromEnd(const Json::Value& object, std::string_view pointer, bool adds,
                         bool* in_list) {
  std::string counted;
  const Json::Value* at = &object;
  while (pointer.starts_with('/')) {
    pointer.remove_prefix(1);
    std::string name(pointer.substr(0, pointer.find('/')));
    pointer.remove_prefix(name.size());
    *in_list = at != nullptr && at->isArray();
    const std::optional<int64_t> index = *in_list ? ReadIndex(name) : std::nullopt;
    if (index) {
      const int64_t places = int64_t{at->size()} + (adds && pointer.empty() ? 1 : 0);
      const int64_t place = *index < 0 ? *index + places : *index;
      name = std::to_string(place);
      at =
          place >= 0 && place < at->size() ? &(*at)[static_cast<Json::ArrayIndex>(place)] : nullptr;
    } else {
      at = at == nullptr || !at->isObject() ? nullptr : FindMember(*at, Unescaped(name));
    }
    StrAppend(&counted, "/", name);
  }
  return counted;
}

// Replaces the indexes of an operation. False if it replaces a list item.
bool CountIndexes(const Json::Value& object, Json::Value& operation) {
  const std::string op = StringAt(operation, "op");
  bool in_list = false;
  Json::Value then = object;
  if (operation.isMember("from")) {
    operation["from"] = CountFromEnd(object, StringAt(operation, "from"), false, &in_list);
    if (op == "move") {
      Json::Value removal(Json::objectValue);
      removal["op"] = "remove";
      removal["path"] = operation["from"];
      Json::Value patch(Json::arrayValue);
      patch.append(removal);
      then = ApplyJsonPatch(object, patch).value_or(object);
    }
  }
  if (operation.isMember("path")) {
    const bool adds = op == "add" || op == "copy" || op == "move";
    operation["path"] = CountFromEnd(then, StringAt(operation, "path"), adds, &in_list);
  }
  return !in_list;
}

// The server's library adds an absent member that is to be replaced.
absl::StatusOr<Json::Value> ApplyOperations(Json::Value object, Json::Value patch) {
  for (Json::Value& operation : patch) {
    if (!SkipToSlash(operation)) return absl::InvalidArgumentError("a pointer without a slash");
    const bool member = CountIndexes(object, operation);
    Json::Value one(Json::arrayValue);
    one.append(operation);
    absl::StatusOr<Json::Value> result = ApplyJsonPatch(object, one);
    if (!result.ok() && member && StringAt(operation, "op") == "replace") {
      one[0]["op"] = "add";
      result = ApplyJsonPatch(object, one);
    }
    // The server's library treats an absent member as null.
    const std::string op = StringAt(operation, "op");
    if (!result.ok() && op == "copy" && IsMissing(object, StringAt(operation, "from"))) {
      one[0]["op"] = "add";
      one[0]["value"] = Json::Value();
      result = ApplyJsonPatch(object, one);
    } else if (!result.ok() && op == "test" && operation.isMember("value") &&
               operation["value"].isNull() && IsMissing(object, StringAt(operation, "path"))) {
      continue;
    }
    if (!result.ok()) return result;
    object = *std::move(result);
  }
  return object;
}

// The message of Go's library.
std::string_view KindOf(const Json::Value& value) {
  if (value.isString()) return "string";
  if (value.isBool()) return "bool";
  if (value.isObject()) return "object";
  return value.isArray() ? "array" : "number";
}

constexpr char kUndecoded[] = "error decoding patch: ";

absl::Status CannotUnmarshal(std::string_view prefix, const Json::Value& value,
                             std::string_view type) {
  return BadRequest(
      StrCat(prefix, "json: cannot unmarshal ", KindOf(value), " into Go value of type ", type));
}

// `checked`: another decoder, which finds unknown members, is used.
absl::Status CheckOperations(const Json::Value& patch, bool checked) {
  const std::string_view prefix = checked ? kUndecoded : "";
  const std::string_view one = checked ? "handlers.jsonPatchOp" : "jsonpatch.Operation";
  if (patch.isNull()) return absl::OkStatus();
  if (!patch.isArray()) {
    return CannotUnmarshal(prefix, patch, checked ? "[]handlers.jsonPatchOp" : "jsonpatch.Patch");
  }
  for (const Json::Value& operation : patch) {
    if (!operation.isObject() && !operation.isNull())
      return CannotUnmarshal(prefix, operation, one);
  }
  return absl::OkStatus();
}

// The error of the apiVersion and kind of a patched object; "" if they are valid.
std::string WhyNoType(const Json::Value& result, const ResourceType& type) {
  for (const char* member : {"apiVersion", "kind"}) {
    const Json::Value* value = FindMember(result, member);
    if (value == nullptr || value->isNull() || value->isString()) continue;
    return StrCat("couldn't get version/kind; json parse error: json: cannot unmarshal ",
                  KindOf(*value), " into Go struct field .", member, " of type string");
  }
  const std::string version = StringAt(result, "apiVersion");
  const std::string kind = StringAt(result, "kind");
  if (version.find('/') != version.rfind('/')) {
    return StrCat("unexpected GroupVersion string: ", version);
  }
  if (type.custom()) {
    return kind.empty() ? StrCat("Object 'Kind' is missing in '", WriteJson(result), "'") : "";
  }
  const bool same = kind.empty() || kind == type.kind;
  if (same && (version.empty() || version == type.ApiVersion())) return "";
  return StrCat("no kind ", rbac::Quote(same ? type.kind : kind), " is registered for version ",
                rbac::Quote(version), " in scheme \"pkg/runtime/scheme.go:111\"");
}

absl::StatusOr<Json::Value> ReadConfiguration(const Request& request, const ResourceType& type) {
  absl::StatusOr<Json::Value> config = ParseJson(request.body);
  if (!config.ok()) {
    return Unsupported(StrCat("applied configurations that are not JSON (",
                              AsStd(config.status().message()), ")"));
  }
  const std::string api_version = StringAt(*config, "apiVersion");
  const std::string kind = StringAt(*config, "kind");
  if (api_version != type.ApiVersion() || kind != type.kind) {
    const size_t slash = api_version.find('/');
    if (slash != api_version.rfind('/')) return BadRequest("invalid object type: /, Kind=");
    const std::string group_version = slash == api_version.npos ? "/" + api_version : api_version;
    return BadRequest(StrCat("invalid object type: ", group_version, ", Kind=", kind));
  }
  const Json::Value* managers = FindMember(MetadataOf(*config), "managedFields");
  if (managers != nullptr && managers->isArray()) {
    return BadRequest("metadata.managedFields must be nil");
  }
  return config;
}

}  // namespace

absl::Status BadPatch(const Json::Value& result, const absl::Status& why) {
  return InvalidError("", "", "",
                      {InvalidField("patch", rbac::Quote(WriteJson(result)), WhyUnreadable(why))});
}

absl::Status CheckPatchType(const Request& request, const ResourceType& type) {
  const std::string given = ContentTypeOf(request);
  if (given == kApplyPatch || given == kJsonPatch || given == kMergePatch) return absl::OkStatus();
  if (type.custom()) {
    return UnsupportedMediaType(StrCat(kJsonPatch, ", ", kMergePatch, ", ", kApplyPatch));
  }
  return given == kStrategicPatch ? Unsupported("strategic merge patches") : UnsupportedPatchType();
}

absl::StatusOr<Json::Value> ReadPatch(const Request& request, const ResourceType& type) {
  const std::string content_type = ContentTypeOf(request);
  if (content_type == kApplyPatch) return ReadConfiguration(request, type);
  absl::StatusOr<Json::Value> patch = ParseJson(request.body);
  const bool checked = request.Query("fieldValidation").value_or("") != "Ignore";
  // Without a check of unknown members, a merge patch is parsed only when it is applied.
  if (content_type == kMergePatch && !checked) {
    if (!patch.ok() || !(patch->isObject() || patch->isArray())) return NoPatch();
    return patch;
  }
  if (!patch.ok()) {
    return BadRequest(StrCat(kUndecoded, AsStd(patch.status().message())));
  }
  if (content_type == kJsonPatch) RETURN_IF_ERROR(CheckOperations(*patch, checked));
  if (content_type == kMergePatch && !patch->isObject() && !patch->isNull()) {
    return CannotUnmarshal(kUndecoded, *patch, "map[string]interface {}");
  }
  return patch;
}

namespace {

// The server decodes an object without an apiVersion as its internal version, in which no JSON
// member is known.
absl::Status Untyped(const Request& request, const Json::Value& result) {
  const std::string validation = request.Query("fieldValidation").value_or("");
  std::string unknown;
  for (const std::string& name : result.getMemberNames()) {
    if (name == "apiVersion" || name == "kind" || validation == "Ignore") continue;
    const std::string error = StrCat("unknown field ", rbac::Quote(name));
    StrAppend(&unknown, unknown.empty() ? "" : ", ", error);
    if (validation != "Strict") request.notes->warnings.push_back(error);
  }
  if (validation == "Strict" && !unknown.empty()) {
    return BadPatch(result, BadRequest(StrCat("strict decoding error: ", unknown)));
  }
  return BadRequest(StrCat("the name of the object (", request.attributes.name,
                           " based on URL) was undeterminable: name must be provided"));
}

}  // namespace

absl::StatusOr<Json::Value> PatchObject(const Request& request, const Json::Value& object,
                                        const Json::Value& patch, const ResourceType& type,
                                        Json::Value* given) {
  Json::Value result;
  if (ContentTypeOf(request) == kMergePatch) {
    if (patch.isNull()) return NoPatch();
    if (patch.isArray()) return BadPatch(patch, BadRequest("it is not a JSON object"));
    result = ApplyMergePatch(object, patch);
  } else {
    absl::StatusOr<Json::Value> patched = ApplyOperations(object, patch);
    if (!patched.ok() || !patched->isObject()) return Rejected();
    result = *std::move(patched);
  }
  *given = result;
  if (const std::string why = WhyNoType(result, type); !why.empty()) {
    return BadPatch(result, BadRequest(why));
  }
  if (!type.custom() && StringAt(result, "apiVersion").empty()) return Untyped(request, result);
  absl::StatusOr<Json::Value> normal = Normalise(result, type);
  if (normal.ok()) return normal;
  return BadPatch(result, normal.status());
}

}  // namespace mandate::apiserver
