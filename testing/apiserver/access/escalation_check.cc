#include "testing/apiserver/access/escalation_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_join.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/object_codec.h"
#include "manager/rbac/covers.h"
#include "manager/rbac/escalation.h"
#include "manager/rbac/policy_proto.h"
#include "manager/rbac/quote.h"
#include "manager/rbac/user.h"
#include "testing/apiserver/errors.h"

namespace mandate::apiserver {
namespace {

// Merges the rules of one resource and at most one name; the verbs keep their order.
std::vector<rbac::Rule> Compact(const std::vector<rbac::Rule>& rules) {
  std::vector<rbac::Rule> result;
  std::map<std::tuple<std::string, std::string, std::vector<std::string>>, size_t> places;
  for (const rbac::Rule& rule : rules) {
    if (!rule.non_resource_urls.empty()) {
      result.push_back(rule);
      continue;
    }
    const auto [place, fresh] = places.try_emplace(
        {rule.api_groups.front(), rule.resources.front(), rule.resource_names}, result.size());
    if (fresh) {
      result.push_back(rule);
    } else {
      std::vector<std::string>& verbs = result[place->second].verbs;
      verbs.insert(verbs.end(), rule.verbs.begin(), rule.verbs.end());
    }
  }
  return result;
}

std::string NotHeld(const rbac::Authorizer& authorizer, const rbac::UserInfo& user,
                    std::string_view ns, const std::vector<rbac::Rule>& missing) {
  std::set<std::string> lines;
  for (const rbac::Rule& rule : Compact(missing)) lines.insert(rbac::CompactString(rule));
  std::vector<std::string> groups;
  for (const std::string& group : user.groups) groups.push_back(rbac::Quote(group));
  std::string message =
      StrCat("user ", rbac::Quote(user.name), " (groups=[", absl::StrJoin(groups, " "),
             "]) is attempting to grant RBAC permissions not currently held:\n",
             absl::StrJoin(lines, "\n"));
  std::vector<std::string> errors = authorizer.RulesFor(user, ns).errors;
  if (errors.empty()) return message;
  // This check reads etcd, and its errors name the resource ("roles.rbac…"). The authorizer reads a
  // cache, and its errors name the kind ("role.rbac…").
  for (std::string& error : errors) error.insert(error.find('.'), 1, 's');
  // More than one error is an aggregate, which is printed in brackets of its own.
  const std::string list = absl::StrJoin(errors, ", ");
  return StrCat(message, "; resolution errors: [",
                errors.size() > 1 ? StrCat("[", list, "]") : list, "]");
}

template <class Message>
absl::StatusOr<Message> Decode(const Json::Value& object) {
  return DecodeObject<Message>(WriteJson(object), Encoding::kJson);
}

// Owner references and finalizers need no check, because the garbage collector writes them.
bool ChangesMore(Json::Value object, Json::Value old) {
  for (Json::Value* one : {&object, &old}) {
    for (const char* field : {"ownerReferences", "finalizers", "managedFields"}) {
      (*one)["metadata"].removeMember(field);
    }
  }
  return object != old;
}

absl::Status CheckRole(const rbac::Authorizer& authorizer, const WriteAttributes& write) {
  const bool cluster = write.resource.resource == "clusterroles";
  std::vector<rbac::Rule> rules;
  if (cluster) {
    ASSIGN_OR_RETURN(const auto role, Decode<rbac::v1::ClusterRole>(write.object));
    rules = rbac::FromProto(role).rules;
  } else {
    ASSIGN_OR_RETURN(const auto role, Decode<rbac::v1::Role>(write.object));
    rules = rbac::FromProto(role).rules;
  }
  const User& user = write.request->user;
  const rbac::Attributes& request = write.request->attributes;
  const auto missing = [&](const std::vector<rbac::Rule>& wanted) {
    return rbac::MissingToWriteRole(
        authorizer, user,
        {.ns = cluster ? std::string_view() : request.ns, .name = request.name, .rules = wanted});
  };
  if (const auto lacking = missing(rules); !lacking.empty()) {
    return ForbiddenError(write.resource, write.name,
                          NotHeld(authorizer, user, request.ns, lacking));
  }
  // An aggregation rule can select any permission.
  if (!FindMember(write.object, "aggregationRule") &&
      !FindMember(write.old_object, "aggregationRule")) {
    return absl::OkStatus();
  }
  rbac::Rule everything;
  everything.verbs = everything.api_groups = everything.resources = {"*"};
  rbac::Rule every_path;
  every_path.verbs = every_path.non_resource_urls = {"*"};
  if (missing({everything, every_path}).empty()) return absl::OkStatus();
  return ForbiddenError(write.resource, write.name,
                        "must have cluster-admin privileges to use the aggregationRule");
}

absl::Status CheckBinding(const rbac::Authorizer& authorizer, const WriteAttributes& write) {
  // Both kinds have the reference in the same place.
  ASSIGN_OR_RETURN(const auto binding, Decode<rbac::v1::RoleBinding>(write.object));
  const rbac::RoleRef ref = rbac::FromProto(binding).role_ref;
  const User& user = write.request->user;
  const std::string& ns = write.request->attributes.ns;
  if (ref.kind != "Role" && ref.kind != "ClusterRole") {
    // The real server returns this error as a plain one, without an API status.
    return PlainError(StrCat("unsupported role reference kind: ", rbac::Quote(ref.kind)));
  }
  const auto missing = rbac::MissingToBind(authorizer, user, ns, ref);
  if (!missing.ok()) {
    if (ref.kind == "Role" && ns.empty()) return BadRequest("Namespace parameter required.");
    // The role is missing, but the server's message names the written resource.
    if (ref.name.empty()) return BadRequest("Name parameter required.");
    return NotFoundError(write.resource, ref.name);
  }
  if (missing->empty()) return absl::OkStatus();
  return ForbiddenError(write.resource, write.name, NotHeld(authorizer, user, ns, *missing));
}

}  // namespace

absl::Status CheckEscalation(const rbac::Authorizer& authorizer, const WriteAttributes& write) {
  if (write.resource.group != rbac::kRbacGroup) return absl::OkStatus();
  const std::vector<std::string>& groups = write.request->user.groups;
  if (std::find(groups.begin(), groups.end(), rbac::kMastersGroup) != groups.end()) {
    return absl::OkStatus();
  }
  if (!write.creates && !ChangesMore(write.object, write.old_object)) {
    return absl::OkStatus();
  }
  if (write.resource.resource == "roles" || write.resource.resource == "clusterroles") {
    return CheckRole(authorizer, write);
  }
  return CheckBinding(authorizer, write);
}

}  // namespace mandate::apiserver
