#include "testing/apiserver/object_meta.h"

#include "manager/object/json.h"

namespace mandate::apiserver {

std::string StringAt(const Json::Value& value, std::string_view key) {
  const Json::Value* member = FindMember(value, key);
  return member != nullptr && member->isString() ? member->asString() : "";
}

const Json::Value& MetadataOf(const Json::Value& object) {
  static const auto& empty = *new Json::Value(Json::objectValue);
  const Json::Value* metadata = FindMember(object, "metadata");
  return metadata != nullptr && metadata->isObject() ? *metadata : empty;
}

std::string MetaString(const Json::Value& object, std::string_view key) {
  return StringAt(MetadataOf(object), key);
}

int64_t GenerationOf(const Json::Value& object) {
  const Json::Value* generation = FindMember(MetadataOf(object), "generation");
  return generation != nullptr && generation->isInt64() ? generation->asInt64() : 0;
}

std::map<std::string, std::string> LabelsOf(const Json::Value& object) {
  std::map<std::string, std::string> labels;
  const Json::Value* found = FindMember(MetadataOf(object), "labels");
  if (found == nullptr || !found->isObject()) return labels;
  for (const std::string& key : found->getMemberNames()) labels[key] = StringAt(*found, key);
  return labels;
}

std::vector<std::string> FinalizersOf(const Json::Value& object) {
  std::vector<std::string> finalizers;
  const Json::Value* found = FindMember(MetadataOf(object), "finalizers");
  if (found == nullptr || !found->isArray()) return finalizers;
  for (const Json::Value& one : *found) {
    if (one.isString()) finalizers.push_back(one.asString());
  }
  return finalizers;
}

bool IsDeleting(const Json::Value& object) {
  return !MetaString(object, "deletionTimestamp").empty();
}

Json::Value& MutableMetadata(Json::Value& object) {
  Json::Value& metadata = object["metadata"];
  if (!metadata.isObject()) metadata = Json::Value(Json::objectValue);
  return metadata;
}

Json::Value ContentOf(const Json::Value& object) {
  Json::Value content = object;
  for (const char* key : {"apiVersion", "kind", "metadata", "status"}) content.removeMember(key);
  return content;
}

}  // namespace mandate::apiserver
