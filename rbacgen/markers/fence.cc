#include "rbacgen/markers/fence.h"

#include <algorithm>
#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"
#include "rbacgen/markers/marker_arguments.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

using Strings = std::vector<std::string>;
using enum ArgumentType;

// This limit keeps the policy's name valid: the names of the manager and of the component also have
// at most 63 characters.
constexpr size_t kMaxId = 63;
constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";
constexpr std::array<std::string_view, 3> kVerbs = {"create", "update", "delete"};

constexpr ArgumentSpec kArguments[] = {
    {"groups", kStrings, true}, {"resources", kStrings, true},
    {"verbs", kStrings},        {"owner", kString},
    {"label", kString},         {"names", kStrings},
    {"labels", kStrings},       {"neverLabels", kStrings},
    {"finalizers", kStrings},   {"fields", kStrings},
    {"roleRefs", kStrings},     {"neverSubject", kStrings},
    {"guard", kString},         {"id", kString},
};

bool Has(const Strings& strings, std::string_view wanted) {
  return std::find(strings.begin(), strings.end(), wanted) != strings.end();
}

template <class... Parts>
absl::Status Mistake(const Parts&... parts) {
  return absl::InvalidArgumentError(StrCat(parts...));
}

absl::Status CheckWhat(const Fence& fence) {
  if (fence.groups.empty()) return Mistake("groups is empty; write \"\" for the core group");
  if (fence.resources.empty()) return Mistake("resources is empty");
  for (const std::string& resource : fence.resources) {
    if (resource.empty()) return Mistake("an empty resource matches nothing; name it");
    if (std::any_of(resource.begin(), resource.end(),
                    [](unsigned char c) { return std::isupper(c) != 0; })) {
      return Mistake("resource ", Quoted(resource),
                     " has capital letters; write the plural in lower case, as in the URL");
    }
  }
  for (const std::string& verb : fence.verbs) {
    if (std::find(kVerbs.begin(), kVerbs.end(), verb) == kVerbs.end()) {
      return Mistake("verbs must be create, update or delete, got ", Quoted(verb),
                     "; a patch counts as create or update, and admission does not see reads");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMine(const Fence& fence) {
  if (!fence.label.empty()) {
    const std::string_view label = fence.label;
    const size_t equals = label.find('=');
    RETURN_IF_ERROR(CheckLabelKey(label.substr(0, equals)));
    if (equals != label.npos) RETURN_IF_ERROR(CheckLabelValue(label.substr(equals + 1)));
  }
  if (fence.owner.empty()) return absl::OkStatus();
  const size_t slash = fence.owner.rfind('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == fence.owner.size()) {
    return Mistake("owner must be \"group/Kind\" (\"core/Kind\" for the core group), got ",
                   Quoted(fence.owner));
  }
  return CheckDnsSubdomain(std::string_view(fence.owner).substr(0, slash));
}

absl::Status CheckGuard(const Fence& fence) {
  if (fence.guard.empty()) return absl::OkStatus();
  if (fence.owner.empty() && fence.label.empty()) {
    return Mistake(
        "guard protects the component's own objects: add owner or label, which defines them");
  }
  const std::string_view guard = fence.guard;
  const size_t slash = guard.find('/');
  const std::string_view resource = slash == guard.npos ? "" : guard.substr(slash + 1);
  if (!CheckDnsSubdomain(guard.substr(0, slash)).ok() || !CheckDnsLabel(resource).ok()) {
    return Mistake("guard must be \"group/resource\", the plural as in the URL, got ",
                   Quoted(guard));
  }
  return absl::OkStatus();
}

absl::Status CheckPatterns(const char* argument, const Strings& patterns) {
  for (const std::string& pattern : patterns) {
    if (pattern.empty() || pattern == "!") {
      return Mistake(argument, " has an empty pattern, which matches no name");
    }
    // "*" counts as text that a name may contain.
    const std::string expanded = absl::StrReplaceAll(pattern, {{AsAbsl(kBaseNameWord), "x"}});
    std::string_view name = expanded;
    if (name.find("$(") != name.npos) {
      return Mistake(argument, ": ", Quoted(pattern), ": the only supported variable is ",
                     kBaseNameWord);
    }
    if (name.starts_with('!')) name.remove_prefix(1);
    for (const char* kind : {"Role/", "ClusterRole/"}) {
      if (std::string_view(argument) == "roleRefs" && name.starts_with(kind)) {
        name.remove_prefix(std::string_view(kind).size());
        break;
      }
    }
    const absl::Status valid =
        std::string_view(argument).ends_with("abels") || std::string_view(argument) == "finalizers"
            ? CheckLabelKey(absl::StrReplaceAll(AsAbsl(name), {{"*", "x"}}))
            : CheckPathSegment(absl::StrReplaceAll(AsAbsl(name), {{"*", "x"}}));
    if (!valid.ok()) return Mistake(argument, ": ", Quoted(pattern), ": ", AsStd(valid.message()));
  }
  return absl::OkStatus();
}

// Whether it is "key", "key.key" or "key[*].key", and so on.
bool IsFieldPath(std::string_view path) {
  for (;;) {
    const size_t size = std::find_if_not(path.begin(), path.end(),
                                         [](unsigned char c) { return std::isalnum(c) != 0; }) -
                        path.begin();
    if (size == 0) return false;
    path.remove_prefix(size);
    if (path.starts_with("[*]")) path.remove_prefix(3);
    if (path.empty()) return true;
    if (!path.starts_with('.')) return false;
    path.remove_prefix(1);
  }
}

absl::Status CheckFields(const Fence& fence) {
  for (const std::string& field : fence.fields) {
    if (!IsFieldPath(field) || field.ends_with("[*]")) {
      return Mistake("fields must be paths such as spec.replicas or webhooks[*].name, got ",
                     Quoted(field));
    }
    for (const std::string& other : fence.fields) {
      if (other.starts_with(field + ".") || other.starts_with(field + "[")) {
        return Mistake("fields: ", Quoted(field), " includes ", Quoted(other),
                       "; write one of them");
      }
    }
  }
  if (!fence.fields.empty() && !Has(fence.verbs, "update")) {
    return Mistake("fields applies only to update, and verbs does not include update");
  }
  return absl::OkStatus();
}

absl::Status CheckBindingsOnly(const Fence& fence) {
  if (fence.role_refs.empty() && !fence.never_self && !fence.never_manager &&
      !fence.never_anonymous) {
    return absl::OkStatus();
  }
  const bool bindings =
      fence.groups == Strings{std::string(kRbacGroup)} &&
      std::all_of(fence.resources.begin(), fence.resources.end(), [](const std::string& r) {
        return r == "rolebindings" || r == "clusterrolebindings";
      });
  if (bindings) return absl::OkStatus();
  return Mistake("roleRefs and neverSubject apply only to rolebindings and clusterrolebindings of ",
                 kRbacGroup, "; write a separate marker for these resources");
}

}  // namespace

absl::StatusOr<Fence> ReadFence(std::string_view text) {
  ASSIGN_OR_RETURN(const Arguments arguments, ParseArguments(kArguments, Repeated::kIsError, text));
  Fence fence;
  fence.groups = arguments.Strings("groups");
  std::replace(fence.groups.begin(), fence.groups.end(), std::string("core"), std::string());
  fence.resources = arguments.Strings("resources");
  fence.verbs = arguments.Strings("verbs");
  if (!arguments.Has("verbs")) fence.verbs.assign(kVerbs.begin(), kVerbs.end());
  fence.owner = arguments.String("owner");
  fence.label = arguments.String("label");
  fence.names = arguments.Strings("names");
  fence.labels = arguments.Strings("labels");
  fence.never_labels = arguments.Strings("neverLabels");
  fence.finalizers = arguments.Strings("finalizers");
  fence.fields = arguments.Strings("fields");
  fence.role_refs = arguments.Strings("roleRefs");
  for (const std::string& who : arguments.Strings("neverSubject")) {
    if (who != "self" && who != "manager" && who != "anonymous") {
      return Mistake("neverSubject must be self, manager or anonymous, got ", Quoted(who));
    }
    (who == "self"      ? fence.never_self
     : who == "manager" ? fence.never_manager
                        : fence.never_anonymous) = true;
  }
  fence.guard = arguments.String("guard");
  fence.id = arguments.String("id");
  RETURN_IF_ERROR(CheckWhat(fence));
  RETURN_IF_ERROR(CheckMine(fence));
  RETURN_IF_ERROR(CheckGuard(fence));
  RETURN_IF_ERROR(CheckPatterns("names", fence.names));
  RETURN_IF_ERROR(CheckPatterns("roleRefs", fence.role_refs));
  RETURN_IF_ERROR(CheckPatterns("labels", fence.labels));
  RETURN_IF_ERROR(CheckPatterns("neverLabels", fence.never_labels));
  RETURN_IF_ERROR(CheckPatterns("finalizers", fence.finalizers));
  RETURN_IF_ERROR(CheckFields(fence));
  RETURN_IF_ERROR(CheckBindingsOnly(fence));
  if (!fence.names.empty() && !Has(fence.verbs, "create")) {
    return Mistake("names applies only to create, and verbs does not include create");
  }
  if (fence.owner.empty() && fence.label.empty() && fence.names.empty() && fence.labels.empty() &&
      fence.never_labels.empty() && fence.fields.empty() && fence.role_refs.empty() &&
      !fence.never_self && !fence.never_manager && !fence.never_anonymous) {
    return Mistake(
        "a fence needs at least one of owner, label, names, labels, neverLabels, fields, roleRefs "
        "and neverSubject");
  }
  if (!fence.id.empty()) {
    RETURN_IF_ERROR(CheckDnsLabel(fence.id));
  } else if (absl::StrJoin(fence.resources, "-").size() > kMaxId) {
    return Mistake("the resources make a policy name of more than ", kMaxId,
                   " characters; set a shorter name with id");
  }
  return fence;
}

}  // namespace mandate::rbacgen
