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
  const StoredObject& object = *change.object;
  if (change.type == Change::Type::kDeleted) {
    core_.Post([this, uid = object.uid] { Collect(uid, /*orphan=*/false); });
    if (object.ns.empty()) return;
    const auto ns = core_.store.Get(kNamespaces, "", object.ns);
    if (ns != nullptr && ns->deleting) core_.Post([this, name = ns->name] { Empty(name); });
    return;
  }
  if (object.owned) {
    core_.Post([this, resource = change.resource, ns = object.ns, name = object.name] {
      DropAbsentOwners(resource, ns, name);
    });
  }
  if (!object.deleting) return;
  core_.Post([this, resource = change.resource, ns = object.ns, name = object.name] {
    Release(resource, ns, name);
    if (resource == kNamespaces) Empty(name);
  });
}

bool Upkeep::IsAbsent(const Json::Value& owner, const std::string& ns) const {
  const auto type = core_.kinds.OfKind(StringAt(owner, "apiVersion"), StringAt(owner, "kind"));
  // A cluster-scoped object cannot have a namespaced owner, so this owner is never looked up.
  if (type == nullptr || (type->namespaced && ns.empty())) return false;
  const auto found =
      core_.store.Get(type->name, type->namespaced ? ns : "", StringAt(owner, "name"));
  return found == nullptr || found->uid != StringAt(owner, "uid");
}

void Upkeep::DropAbsentOwners(const GroupResource& resource, const std::string& ns,
                              const std::string& name) {
  const auto object = core_.store.Get(resource, ns, name);
  if (object == nullptr || !object->owned) return;
  Json::Value value = object->Parse();
  const Json::Value owners = MetadataOf(value)["ownerReferences"];
  Json::Value left(Json::arrayValue);
  for (const Json::Value& owner : owners) {
    if (!IsAbsent(owner, ns)) left.append(owner);
  }
  if (left.size() == owners.size()) return;
  if (left.empty()) return Delete(resource, *object);
  MutableMetadata(value)["ownerReferences"] = std::move(left);
  core_.store.Put(resource, std::move(value));
}

void Upkeep::Release(const GroupResource& resource, const std::string& ns,
                     const std::string& name) {
  const auto object = core_.store.Get(resource, ns, name);
  if (object == nullptr || !object->deleting) return;
  Json::Value value = object->Parse();
  Json::Value left(Json::arrayValue);
  for (const std::string& finalizer : FinalizersOf(value)) {
    if (finalizer == "orphan" || finalizer == "foregroundDeletion") {
      Collect(object->uid, finalizer == "orphan");
    } else {
      left.append(finalizer);
    }
  }
  if (left.size() == FinalizersOf(value).size()) return;
  if (left.empty()) {
    core_.store.Delete(resource, ns, name);
    return;
  }
  MutableMetadata(value)["finalizers"] = std::move(left);
  core_.store.Put(resource, std::move(value));
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

void Upkeep::Collect(const std::string& owner_uid, bool orphan) {
  for (const GroupResource& resource : core_.store.Resources()) {
    for (const auto& object : core_.store.List(resource)) {
      if (!object->owned) continue;
      Json::Value value = object->Parse();
      Json::Value owners = MetadataOf(value)["ownerReferences"];
      Json::Value left(Json::arrayValue);
      for (const Json::Value& owner : owners) {
        if (StringAt(owner, "uid") != owner_uid) left.append(owner);
      }
      if (left.size() == owners.size()) continue;
      if (left.empty() && !orphan) {
        Delete(resource, *object);
      } else {
        MutableMetadata(value).removeMember("ownerReferences");
        if (!left.empty()) MutableMetadata(value)["ownerReferences"] = std::move(left);
        core_.store.Put(resource, std::move(value));
      }
    }
  }
}

}  // namespace mandate::apiserver
