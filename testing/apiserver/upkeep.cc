#include "testing/apiserver/upkeep.h"

#include <string>
#include <utility>

#include "manager/object/json.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

const GroupResource kNamespaces{"", "namespaces"};

}  // namespace

Upkeep::Upkeep(Core& core) : core_(core) {
  core_.store.SubscribeAll([this](const Change& change) { OnChange(change); });
}

void Upkeep::OnChange(const Change& change) {
  if (change.type == Change::Type::kDeleted) {
    core_.Post([this, uid = change.object->uid] { Collect(uid); });
    if (change.object->ns.empty()) return;
    const auto ns = core_.store.Get(kNamespaces, "", change.object->ns);
    if (ns == nullptr || !ns->deleting) return;
    core_.Post([this, name = ns->name] { Empty(name); });
  } else if (change.resource == kNamespaces && change.object->deleting) {
    core_.Post([this, name = change.object->name] { Empty(name); });
  }
}

void Upkeep::Empty(const std::string& name) {
  const auto ns = core_.store.Get(kNamespaces, "", name);
  if (ns == nullptr || !ns->deleting) return;
  bool empty = true;
  for (const GroupResource& resource : core_.store.Resources()) {
    for (const auto& object : core_.store.List(resource, name)) {
      Delete(resource, *object);
      empty = empty && core_.store.Get(resource, name, object->name) == nullptr;
    }
  }
  if (empty && FinalizersOf(ns->Parse()).empty()) core_.store.Delete(kNamespaces, "", name);
}

void Upkeep::Delete(const GroupResource& resource, const StoredObject& object) {
  Json::Value value = object.Parse();
  if (FinalizersOf(value).empty()) {
    core_.store.Delete(resource, object.ns, object.name);
    return;
  }
  if (object.deleting) return;
  Json::Value& metadata = MutableMetadata(value);
  metadata["deletionTimestamp"] = core_.Now();
  metadata["deletionGracePeriodSeconds"] = 0;
  core_.store.Put(resource, std::move(value));
}

void Upkeep::Collect(const std::string& owner_uid) {
  for (const GroupResource& resource : core_.store.Resources()) {
    for (const auto& object : core_.store.List(resource)) {
      // Most have no owner at all.
      if (object->json.find(owner_uid) == std::string::npos) continue;
      Json::Value value = object->Parse();
      Json::Value owners = MetadataOf(value)["ownerReferences"];
      Json::Value left(Json::arrayValue);
      for (const Json::Value& owner : owners) {
        if (StringAt(owner, "uid") != owner_uid) left.append(owner);
      }
      if (left.size() == owners.size()) continue;
      if (left.empty()) {
        Delete(resource, *object);
      } else {
        MutableMetadata(value)["ownerReferences"] = std::move(left);
        core_.store.Put(resource, std::move(value));
      }
    }
  }
}

}  // namespace mandate::apiserver
