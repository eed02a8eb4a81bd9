#include "rbacgen/emit/crd/type_schemas.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "manager/core/strings.h"
#include "manager/object/json_names.h"
#include "rbacgen/emit/crd/doc_comment.h"
#include "rbacgen/emit/crd/field_names.h"
#include "rbacgen/emit/crd/keywords.h"
#include "rbacgen/emit/crd/known_types.h"
#include "rbacgen/emit/crd/kubernetes_markers.h"
#include "rbacgen/emit/crd/rules.h"
#include "rbacgen/emit/crd/unmarked_fields.h"

namespace mandate::rbacgen {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using mandate::api::Schema;

constexpr char kMapType[] = "x-kubernetes-map-type";

bool IsKubernetes(const FileDescriptor& file) { return file.name().starts_with("k8s.io/"); }

// Whether Kubernetes' message is a template: it has the metadata of objects that are made of it,
// but is itself not an object.
bool IsTemplate(const Descriptor& message) {
  return message.name().ends_with("TemplateSpec") ||
         message.name() == "PersistentVolumeClaimTemplate";
}

bool HasField(const Descriptor& message, std::string_view json_name) {
  for (int i = 0; i < message.field_count(); ++i) {
    if (JsonName(*message.field(i)) == json_name) return true;
  }
  return false;
}

// False if the options are newer than this program, which would ignore unknown options silently.
template <class Options>
bool IsUnderstood(const Options& options) {
  return options.unknown_fields().empty();
}

}  // namespace

SchemaNode TypeSchemas::OfResource(const Descriptor& message) {
  SchemaNode node = OfMessage(message);
  const auto field = [&](const char* name) { return message.FindFieldByName(name); };
  const Place place = files_.PlaceOf(message);
  for (const char* name : {"metadata", "spec", "status"}) {
    if (field(name) == nullptr) {
      diagnostics_->Error(place, StrCat(message.name(), " has option resource but no field ", name,
                                        ": add it; the messages of spec and status may be empty"));
    } else if (field(name)->message_type() == nullptr || field(name)->is_repeated()) {
      diagnostics_->Error(files_.PlaceOf(*field(name)), StrCat(name, " must be a message"));
    } else if (JsonName(*field(name)) != name) {
      diagnostics_->Error(
          files_.PlaceOf(*field(name)),
          StrCat(
              name,
              " is a standard field of every object and keeps its name in JSON: remove json_name"));
    }
  }
  const FieldDescriptor* metadata = field("metadata");
  if (metadata == nullptr || metadata->message_type() == nullptr) return node;
  if (!IsObjectMeta(*metadata->message_type())) {
    diagnostics_->Error(files_.PlaceOf(*metadata),
                        "metadata must be k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    return node;
  }
  for (const char* reserved : {"apiVersion", "kind"}) {
    if (HasField(message, reserved)) {
      diagnostics_->Error(
          place, StrCat(reserved, " is a standard field of every object; remove the field"));
    }
  }
  // The API server does not accept a description or a restriction here.
  node.properties["metadata"] = {};
  node.properties["metadata"].type = "object";
  if (metadata->options().HasExtension(mandate::api::schema)) {
    diagnostics_->Error(files_.PlaceOfOption(*metadata, mandate::api::schema.number()),
                        "metadata does not support option schema: the API server checks it; for "
                        "more checks, use validations in option (mandate.api.object)");
  }
  CheckTransitions(node, diagnostics_);
  return node;
}

SchemaNode TypeSchemas::OfMessage(const Descriptor& message) {
  std::string description;
  const Schema options = OptionsOf(message, &description);
  SchemaNode node;
  if (std::optional<SchemaNode> known = KnownType(message)) {
    node = *std::move(known);
    // The field's own comment says more than the comment of the wrapper type.
    description.clear();
  } else {
    node.type = "object";
    open_.push_back(&message);
    if (!IsKubernetes(*message.file())) CheckFieldNames(message, files_, diagnostics_);
    for (int i = 0; i < message.field_count(); ++i) AddField(*message.field(i), &node);
    open_.pop_back();
    AddTypeMeta(message, &node);
    AddOneofs(message, &node);
  }
  node.description = std::move(description);
  Apply(options, files_.PlaceOfOption(message, mandate::api::object.number()), &node);
  return node;
}

// Adds apiVersion and kind, which the .proto message of an object lacks.
void TypeSchemas::AddTypeMeta(const Descriptor& message, SchemaNode* node) {
  const FieldDescriptor* metadata = message.FindFieldByName("metadata");
  if (metadata == nullptr || metadata->message_type() == nullptr) return;
  if (!IsObjectMeta(*metadata->message_type())) return;
  const bool is_object = IsKubernetes(*message.file())
                             ? !IsTemplate(message)
                             : message.options().HasExtension(mandate::api::resource);
  if (!is_object) return;
  const Descriptor* type_meta = metadata->message_type()->file()->FindMessageTypeByName("TypeMeta");
  for (int i = 0; type_meta != nullptr && i < type_meta->field_count(); ++i) {
    node->properties[std::string(JsonName(*type_meta->field(i)))] = OfField(*type_meta->field(i));
  }
}

void TypeSchemas::AddField(const FieldDescriptor& field, SchemaNode* node) {
  if (IsFlattened(field.full_name())) {
    SchemaNode inner = OfMessage(*field.message_type());
    node->properties.merge(inner.properties);
    node->required.merge(inner.required);
    // A marker above the inner message also applies to the outer one.
    if (inner.keywords.contains(kMapType)) node->keywords[kMapType] = inner.keywords[kMapType];
    return;
  }
  const std::string name(JsonName(field));
  std::string description;
  const Schema options = OptionsOf(field, LeadingComment(field), &description);
  node->properties[name] = OfField(field);
  if (options.required()) node->required.insert(name);
  if (options.immutable() && !options.required()) AddStaysSet(name, node);
}

SchemaNode TypeSchemas::OfField(const FieldDescriptor& field) {
  std::string description;
  Schema options = OptionsOf(field, LeadingComment(field), &description);
  const Place place = files_.PlaceOfOption(field, mandate::api::schema.number());
  if (!IsKubernetes(*field.file())) CheckPresence(field);
  SchemaNode node;
  if (options.schemaless()) {
    node.description = description;
  } else if (field.is_map()) {
    node.type = "object";
    if (field.message_type()->map_key()->type() != FieldDescriptor::TYPE_STRING) {
      diagnostics_->Error(files_.PlaceOf(field), "the keys of a map must be strings, as in JSON");
    }
    node.values.push_back(OfElement(*field.message_type()->map_value()));
  } else if (field.is_repeated()) {
    node.type = "array";
    node.items.push_back(OfElement(field));
  } else {
    node = OfElement(field);
  }
  if (!description.empty()) node.description = std::move(description);
  if (IsKubernetes(*field.file())) {
    // For a few list types of Kubernetes' messages, the API server would reject the definition. A
    // list without a list type is atomic.
    SchemaNode copy = node;
    if (!ApplySchema(options, &copy).empty()) {
      options.clear_listtype();
      options.clear_listmapkeys();
    }
  }
  Apply(options, place, &node);
  return node;
}

SchemaNode TypeSchemas::OfElement(const FieldDescriptor& field) {
  const auto refuse = [&](std::string_view type, std::string_view instead) {
    diagnostics_->Error(files_.PlaceOf(field),
                        StrCat(field.name(), " is of type ", type, ": ", instead));
    return SchemaNode{};
  };
  SchemaNode node;
  switch (field.type()) {
    case FieldDescriptor::TYPE_STRING:
      node.type = "string";
      return node;
    case FieldDescriptor::TYPE_BOOL:
      node.type = "boolean";
      return node;
    case FieldDescriptor::TYPE_INT32:
    case FieldDescriptor::TYPE_INT64:
      node.type = "integer";
      node.keywords["format"] = field.type() == FieldDescriptor::TYPE_INT32 ? "int32" : "int64";
      return node;
    case FieldDescriptor::TYPE_BYTES:
      node.type = "string";
      node.keywords["format"] = "byte";
      return node;
    case FieldDescriptor::TYPE_MESSAGE:
      break;
    case FieldDescriptor::TYPE_ENUM:
      return refuse("enum", "use string with option enum, as Kubernetes writes enums");
    case FieldDescriptor::TYPE_FLOAT:
    case FieldDescriptor::TYPE_DOUBLE:
      return refuse("float", "use k8s.io.apimachinery.pkg.api.resource.Quantity, or a string");
    default:
      return refuse(field.type_name(), "use int32 or int64, with option minimum if it is needed");
  }
  const Descriptor& message = *field.message_type();
  if (std::ranges::find(open_, &message) != open_.end()) {
    return refuse(message.full_name(),
                  "it contains itself, and a schema cannot be recursive: set schemaless and "
                  "preserveUnknownFields");
  }
  return OfMessage(message);
}

// Without presence, an absent field looks like an empty one, and applying an object writes every
// field.
void TypeSchemas::CheckPresence(const FieldDescriptor& field) {
  if (field.is_required()) {
    diagnostics_->Error(
        files_.PlaceOf(field),
        StrCat(field.name(),
               " is `required` for protobuf, which cannot be changed later: declare "
               "it `optional` and set (mandate.api.schema).required"));
  } else if (!field.is_repeated() && !field.has_presence()) {
    diagnostics_->Error(
        files_.PlaceOf(field),
        StrCat(field.name(), " cannot distinguish empty from absent: declare it `optional`"));
  }
}

void TypeSchemas::AddOneofs(const Descriptor& message, SchemaNode* node) {
  for (int i = 0; i < message.real_oneof_decl_count(); ++i) {
    const auto& oneof = *message.oneof_decl(i);
    std::vector<std::string> fields;
    for (int k = 0; k < oneof.field_count(); ++k) fields.emplace_back(JsonName(*oneof.field(k)));
    if (fields.size() < 2) continue;
    std::vector<std::string> mistakes;
    AddOneOf(OneOf::kAtMost, fields, node, &mistakes);
    for (const std::string& mistake : mistakes) {
      diagnostics_->Error(files_.PlaceOf(message), mistake);
    }
  }
}

Schema TypeSchemas::OptionsOf(const FieldDescriptor& field, std::string_view comment,
                              std::string* description) {
  DocComment doc = ReadDocComment(comment);
  *description = std::move(doc.description);
  if (IsKubernetes(*field.file())) {
    Schema schema = ReadKubernetesMarkers(doc.markers);
    if (IsOptionalUnmarked(field)) schema.clear_required();
    return schema;
  }
  for (const std::string& marker : doc.markers) {
    if (!IsSchemaMarker(marker)) continue;
    diagnostics_->Error(
        files_.PlaceOf(field),
        StrCat(
            "+", marker,
            " is a marker for Go sources and has no effect here: use option (mandate.api.schema)"));
  }
  const Schema& schema = field.options().GetExtension(mandate::api::schema);
  if (!IsUnderstood(schema)) {
    diagnostics_->Error(
        files_.PlaceOfOption(field, mandate::api::schema.number()),
        "option schema has fields that this version of rbacgen does not know; use a newer version");
  }
  return schema;
}

Schema TypeSchemas::OptionsOf(const Descriptor& message, std::string* description) {
  DocComment doc = ReadDocComment(LeadingComment(message));
  *description = std::move(doc.description);
  if (IsKubernetes(*message.file())) {
    Schema schema = ReadKubernetesMarkers(doc.markers);
    schema.clear_required();
    return schema;
  }
  for (const std::string& marker : doc.markers) {
    if (!IsSchemaMarker(marker)) continue;
    diagnostics_->Error(
        files_.PlaceOf(message),
        StrCat(
            "+", marker,
            " is a marker for Go sources and has no effect here: use option (mandate.api.object)"));
  }
  const Schema& object = message.options().GetExtension(mandate::api::object);
  const Place place = files_.PlaceOfOption(message, mandate::api::object.number());
  if (!IsUnderstood(object)) {
    diagnostics_->Error(
        place,
        "option object has fields that this version of rbacgen does not know; use a newer version");
  }
  if (object.has_required())
    diagnostics_->Error(place, "required applies to fields, not to messages");
  return object;
}

void TypeSchemas::Apply(const Schema& options, const Place& place, SchemaNode* node) {
  for (const std::string& mistake : ApplySchema(options, node)) diagnostics_->Error(place, mistake);
  node->place = place;
}

}  // namespace mandate::rbacgen
