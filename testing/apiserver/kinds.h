// The resources that the double serves: the built-in ones, from the published protobuf descriptors,
// and the custom ones of the stored definitions.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "manager/object/kind.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

class Schema;

// One resource in one version. Immutable.
struct ResourceType {
  std::string ApiVersion() const {
    return name.group.empty() ? version : name.group + "/" + version;
  }
  bool protobuf() const { return message != nullptr; }
  // Defined by a CustomResourceDefinition.
  bool custom() const { return schema != nullptr; }

  GroupResource name = {};
  std::string version = {};
  std::string kind = {};
  std::string list_kind = {};
  std::string singular = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  bool namespaced = true;
  bool has_status = false;
  // Whether metadata.generation counts the changes outside the status.
  bool has_generation = false;
  // Whether the response to a complete DELETE is the object and not a Status.
  bool returns_deleted = false;
  const google::protobuf::Descriptor* message = nullptr;  // null if there is only JSON
  std::shared_ptr<const Schema> schema = {};              // for a custom resource
  // The response has PartialObjectMetadata instead of the objects.
  bool metadata_only = false;
};

// Loop thread only.
class Kinds {
 public:
  // Contains the built-in kinds.
  Kinds();

  // Null if the resource is not served.
  std::shared_ptr<const ResourceType> Find(std::string_view group, std::string_view version,
                                           std::string_view resource) const;
  // The first served version.
  std::shared_ptr<const ResourceType> Find(const GroupResource& name) const;
  // Looks up an object's kind; null if it is not served.
  std::shared_ptr<const ResourceType> OfKind(std::string_view api_version,
                                             std::string_view kind) const;

  // Group to version to resources, sorted, for discovery.
  using Versions = std::map<std::string, std::vector<std::shared_ptr<const ResourceType>>>;
  const std::map<std::string, Versions>& groups() const { return groups_; }

  // Replaces all versions of the resource. An empty list removes the resource.
  void SetCustom(const GroupResource& name,
                 std::vector<std::shared_ptr<const ResourceType>> versions);

 private:
  void Add(std::shared_ptr<const ResourceType> type);

  std::map<std::string, Versions> groups_;
};

}  // namespace mandate::apiserver
