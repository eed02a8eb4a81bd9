#include "testing/apiserver/definitions.h"

#include <memory>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/apiserver/object_meta.h"
#include "testing/apiserver/schema.h"

namespace mandate::apiserver {
namespace {

const GroupResource kDefinitions{"apiextensions.k8s.io", "customresourcedefinitions"};

const Json::Value& At(const Json::Value& value, std::initializer_list<std::string_view> path) {
  static const auto& nothing = *new Json::Value;
  const Json::Value* found = &value;
  for (const std::string_view part : path) {
    found = FindMember(*found, part);
    if (found == nullptr) return nothing;
  }
  return *found;
}

std::string TextAt(const Json::Value& value, std::initializer_list<std::string_view> path) {
  const Json::Value& found = At(value, path);
  return found.isString() ? found.asString() : "";
}

bool FlagAt(const Json::Value& value, std::string_view key) {
  return At(value, {key}) == Json::Value(true);
}

std::vector<std::string> Strings(const Json::Value& list) {
  std::vector<std::string> out;
  if (!list.isArray()) return out;
  for (const Json::Value& one : list) {
    if (one.isString()) out.push_back(one.asString());
  }
  return out;
}

GroupResource NameOf(const Json::Value& definition) {
  return {TextAt(definition, {"spec", "group"}), TextAt(definition, {"spec", "names", "plural"})};
}

std::vector<std::shared_ptr<const ResourceType>> TypesOf(const Json::Value& definition) {
  std::vector<std::shared_ptr<const ResourceType>> types;
  const Json::Value& names = At(definition, {"spec", "names"});
  for (const Json::Value& version : At(definition, {"spec", "versions"})) {
    if (!FlagAt(version, "served")) continue;
    auto type = std::make_shared<ResourceType>();
    type->name = NameOf(definition);
    type->version = StringAt(version, "name");
    type->kind = StringAt(names, "kind");
    type->list_kind = StringAt(names, "listKind");
    if (type->list_kind.empty()) type->list_kind = type->kind + "List";
    type->singular = StringAt(names, "singular");
    type->short_names = Strings(At(names, {"shortNames"}));
    type->categories = Strings(At(names, {"categories"}));
    type->namespaced = At(definition, {"spec", "scope"}) == Json::Value("Namespaced");
    type->has_status = At(version, {"subresources", "status"}).isObject();
    type->has_generation = true;
    const Json::Value& schema = At(version, {"schema", "openAPIV3Schema"});
    type->schema = std::make_shared<Schema>(schema);
    types.push_back(std::move(type));
  }
  return types;
}

Json::Value Condition(std::string_view type, std::string_view reason, std::string_view message,
                      const std::string& now) {
  Json::Value out(Json::objectValue);
  out["type"] = std::string(type);
  out["status"] = "True";
  out["reason"] = std::string(reason);
  out["message"] = std::string(message);
  out["lastTransitionTime"] = now;
  return out;
}

}  // namespace

absl::Status Definitions::Check(const Json::Value& definition) {
  if (At(definition, {"spec", "conversion", "strategy"}) == Json::Value("Webhook")) {
    return Unsupported("conversion webhooks");
  }
  for (const Json::Value& version : At(definition, {"spec", "versions"})) {
    if (At(version, {"subresources", "scale"}).isObject()) {
      return Unsupported("the subresource scale");
    }
    const Json::Value& schema = At(version, {"schema", "openAPIV3Schema"});
    const std::string keyword = Schema(schema).UnknownKeyword();
    if (!keyword.empty()) return Unsupported(StrCat("schemas with ", keyword));
  }
  return absl::OkStatus();
}

Definitions::Definitions(Core& core) : core_(core) {
  core_.store.Subscribe(kDefinitions, [this](const Change& change) {
    // A listener must not write, so this runs later.
    core_.Post([this, change] {
      if (change.type == Change::Type::kDeleted) {
        Remove(*change.object);
      } else {
        Serve(*change.object);
      }
    });
    if (change.type != Change::Type::kDeleted) {
      const Json::Value definition = change.object->Parse();
      core_.kinds.SetCustom(NameOf(definition), TypesOf(definition));
    }
  });
}

void Definitions::Serve(const StoredObject& stored) {
  const auto latest = core_.store.Get(kDefinitions, "", stored.name);
  if (latest == nullptr) return;
  Json::Value definition = latest->Parse();
  if (!At(definition, {"status", "conditions"}).isNull()) return;
  Json::Value& status = definition["status"];
  status["acceptedNames"] = definition["spec"]["names"];
  const std::string now = core_.Now();
  status["conditions"].append(Condition("NamesAccepted", "NoConflicts", "no conflicts found", now));
  status["conditions"].append(Condition("Established", "InitialNamesAccepted",
                                        "the initial names have been accepted", now));
  for (const Json::Value& version : definition["spec"]["versions"]) {
    if (FlagAt(version, "storage")) status["storedVersions"].append(version["name"]);
  }
  core_.store.Put(kDefinitions, std::move(definition));
}

void Definitions::Remove(const StoredObject& stored) {
  const GroupResource name = NameOf(stored.Parse());
  for (const auto& object : core_.store.List(name)) {
    core_.store.Delete(name, object->ns, object->name);
  }
  core_.kinds.SetCustom(name, {});
}

}  // namespace mandate::apiserver
