#include "testing/apiserver/unknown_members.h"

#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/core/strings.h"
#include "manager/object/json_plan.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/schema.h"

namespace mandate::apiserver {
namespace {

std::string Join(const std::string& path, const std::string& name) {
  return path.empty() ? name : StrCat(path, ".", name);
}

// The unknown members of a message. Values of wrong types are reported by the decoder.
void AddUnknown(const Json::Value& given, const MessagePlan& plan, const std::string& path,
                std::vector<std::string>& paths) {
  if (plan.hook != JsonHook::kNone || !given.isObject()) return;
  for (const std::string& name : given.getMemberNames()) {
    const auto found = plan.members.find(name);
    if (found == plan.members.end()) {
      const bool type =
          (name == "apiVersion" || name == "kind") && (path.empty() || plan.has_metadata);
      if (!type) paths.push_back(Join(path, name));
      continue;
    }
    const FieldPlan& target = *found->second.target;
    if (target.message == nullptr) continue;
    const Json::Value& member = given[name];
    if (target.field->is_map() && member.isObject()) {
      for (const std::string& key : member.getMemberNames()) {
        AddUnknown(member[key], *target.message, Join(Join(path, name), key), paths);
      }
    } else if (member.isArray()) {
      for (Json::ArrayIndex i = 0; i < member.size(); ++i) {
        AddUnknown(member[i], *target.message, StrCat(Join(path, name), "[", i, "]"), paths);
      }
    } else {
      AddUnknown(member, *target.message, Join(path, name), paths);
    }
  }
}

// The members that pruning removed.
void AddPruned(const Json::Value& given, const Json::Value& pruned, const std::string& path,
               std::vector<std::string>& paths) {
  if (given.isArray() && pruned.isArray() && given.size() == pruned.size()) {
    for (Json::ArrayIndex i = 0; i < given.size(); ++i) {
      AddPruned(given[i], pruned[i], StrCat(path, "[", i, "]"), paths);
    }
  }
  if (!given.isObject() || !pruned.isObject()) return;
  for (const std::string& name : given.getMemberNames()) {
    if (pruned.isMember(name)) {
      AddPruned(given[name], pruned[name], Join(path, name), paths);
    } else {
      paths.push_back(Join(path, name));
    }
  }
}

}  // namespace

std::vector<std::string> UnknownMembers(const Json::Value& given, const ResourceType& type) {
  std::vector<std::string> paths;
  if (!given.isObject()) return paths;
  // Definitions have neither message nor schema, so every member is allowed.
  if (!type.custom() && type.message == nullptr) return paths;
  if (!type.custom()) {
    AddUnknown(given, *PlanOf(*type.message), "", paths);
    return paths;
  }
  namespace meta = k8s::io::apimachinery::pkg::apis::meta::v1;
  if (given.isMember("metadata")) {
    AddUnknown(given["metadata"], *PlanOf(*meta::ObjectMeta::descriptor()), "metadata", paths);
  }
  // The server prunes nothing of another kind, and everything of another version of the group.
  const std::string api_version = StringAt(given, "apiVersion");
  if (StringAt(given, "kind") != type.kind) return paths;
  if (api_version == type.ApiVersion()) {
    AddPruned(given, type.schema->Prune(given), "", paths);
  } else if (api_version.starts_with(type.name.group + "/")) {
    for (const std::string& name : given.getMemberNames()) {
      if (name != "apiVersion" && name != "kind" && name != "metadata") paths.push_back(name);
    }
  }
  return paths;
}

absl::Status CheckMembers(const Json::Value& given, const ResourceType& type,
                          std::string_view validation, std::vector<std::string>& warnings) {
  if (validation == "Ignore") return absl::OkStatus();
  std::string errors;
  for (const std::string& path : UnknownMembers(given, type)) {
    const std::string error = StrCat("unknown field ", rbac::Quote(path));
    StrAppend(&errors, errors.empty() ? "" : ", ", error);
    if (validation != "Strict") warnings.push_back(error);
  }
  if (errors.empty() || validation != "Strict") return absl::OkStatus();
  std::string version = type.version;
  if (type.custom()) {
    version = StringAt(given, "apiVersion");
    if (version.empty()) {
      return BadRequest("Object 'apiVersion' is missing in 'object has no apiVersion field'");
    }
    version = version.substr(version.find('/') + 1);
  }
  return BadRequest(StrCat(type.kind, " in version ", rbac::Quote(version),
                           " cannot be handled as a ", type.kind,
                           ": strict decoding error: ", errors));
}

}  // namespace mandate::apiserver
