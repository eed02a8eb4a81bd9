#include "testing/apiserver/owner_permissions.h"

#include <jsoncpp/json/json.h>

#include <memory>
#include <string>
#include <string_view>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/rbac/rule.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

const Json::Value& OwnersOf(const Json::Value& object) {
  static const Json::Value* const kNone = new Json::Value(Json::arrayValue);
  const Json::Value* owners = FindMember(MetadataOf(object), "ownerReferences");
  return owners != nullptr && owners->isArray() ? *owners : *kNone;
}

bool Blocks(const Json::Value& owner) {
  const Json::Value* blocks = FindMember(owner, "blockOwnerDeletion");
  return blocks != nullptr && blocks->isBool() && blocks->asBool();
}

// A user who may update all finalizers may block every owner, also one of an unknown kind.
rbac::Attributes AllFinalizers() {
  rbac::Attributes update;
  update.verb = "update";
  update.api_group = update.api_version = update.resource = update.name = "*";
  update.subresource = "finalizers";
  return update;
}

bool BlockedBefore(const Json::Value& owners, const Json::Value& owner) {
  for (const Json::Value& old : owners) {
    if (StringAt(old, "uid") == StringAt(owner, "uid")) return Blocks(old);
  }
  return false;
}

}  // namespace

absl::Status CheckOwnerPermissions(WriteHooks& hooks, const Kinds& kinds,
                                   const WriteAttributes& write) {
  const rbac::Attributes& request = write.request->attributes;
  // The kubelet's writes.
  if (write.resource == GroupResource{"", "pods"} && request.subresource == "status") {
    return absl::OkStatus();
  }
  const Json::Value& owners = OwnersOf(write.object);
  const Json::Value& old_owners = OwnersOf(write.old_object);
  if (owners == old_owners) return absl::OkStatus();
  // The message ends with Go's print of an error that is nil.
  const auto forbid = [&](std::string_view why, std::string_view reason) {
    return ForbiddenError(write.resource, write.name, StrCat(why, ": ", reason, ", <nil>"));
  };
  if (!write.creates) {
    rbac::Attributes deletion = request;
    deletion.verb = "delete";
    const rbac::Decision decision = hooks.Authorize(write.request->user, deletion);
    if (!decision.allowed) {
      return forbid("cannot set an ownerRef on a resource you can't delete", decision.reason);
    }
  }
  if (hooks.Authorize(write.request->user, AllFinalizers()).allowed) return absl::OkStatus();
  for (const Json::Value& owner : owners) {
    if (!Blocks(owner) || BlockedBefore(old_owners, owner)) continue;
    const std::string api_version = StringAt(owner, "apiVersion");
    const std::string kind = StringAt(owner, "kind");
    const std::shared_ptr<const ResourceType> type = kinds.OfKind(api_version, kind);
    if (type == nullptr) {
      return ForbiddenError(
          write.resource, write.name,
          StrCat("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for "
                 "APIVersion ",
                 api_version, " Kind ", kind, ": no matches for kind \"", kind, "\" in version \"",
                 api_version, "\""));
    }
    rbac::Attributes update;
    update.verb = "update";
    update.api_group = type->name.group;
    update.resource = type->name.resource;
    update.subresource = "finalizers";
    update.name = StringAt(owner, "name");
    if (type->namespaced) update.ns = request.ns;
    const rbac::Decision decision = hooks.Authorize(write.request->user, update);
    if (!decision.allowed) {
      return forbid(
          "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set "
          "finalizers on",
          decision.reason);
    }
  }
  return absl::OkStatus();
}

}  // namespace mandate::apiserver
