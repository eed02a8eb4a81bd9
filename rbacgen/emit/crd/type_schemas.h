// The structural schema of a message: its fields' types, comments and options.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/mandate/options.pb.h"
#include "google/protobuf/descriptor.h"
#include "rbacgen/emit/crd/proto_files.h"
#include "rbacgen/emit/crd/schema_node.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// Not thread-safe. `files` and `diagnostics` outlive this.
class TypeSchemas {
 public:
  TypeSchemas(const ProtoFiles& files, Diagnostics* diagnostics)
      : files_(files), diagnostics_(diagnostics) {}

  // The schema of a message with option resource, including apiVersion and kind. Mistakes are
  // reported as diagnostics.
  SchemaNode OfResource(const google::protobuf::Descriptor& message);

 private:
  using Descriptor = google::protobuf::Descriptor;
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  SchemaNode OfMessage(const Descriptor& message);
  void AddField(const FieldDescriptor& field, SchemaNode* node);
  SchemaNode OfField(const FieldDescriptor& field);
  // The schema of one item of a list, of one value of a map, or of the field itself.
  SchemaNode OfElement(const FieldDescriptor& field);
  void AddTypeMeta(const Descriptor& message, SchemaNode* node);
  void AddOneofs(const Descriptor& message, SchemaNode* node);
  void CheckPresence(const FieldDescriptor& field);

  mandate::api::Schema OptionsOf(const FieldDescriptor& field, std::string_view comment,
                                 std::string* description);
  mandate::api::Schema OptionsOf(const Descriptor& message, std::string* description);
  void Apply(const mandate::api::Schema& options, const Place& place, SchemaNode* node);

  const ProtoFiles& files_;
  Diagnostics* const diagnostics_;
  // The messages that are being read, outermost first.
  std::vector<const Descriptor*> open_;
};

}  // namespace mandate::rbacgen
