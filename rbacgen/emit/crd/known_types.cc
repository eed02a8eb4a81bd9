#include "rbacgen/emit/crd/known_types.h"

#include <string_view>

#include "manager/object/json_hooks.h"

namespace mandate::rbacgen {
namespace {

// A decimal number, then a binary, decimal or exponent suffix.
constexpr std::string_view kQuantityPattern =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+)))"
    R"((([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

// The text format of Go, as the codec reads it. Go accepts both signs for micro.
constexpr std::string_view kDurationPattern =
    "^[+-]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|\xC2\xB5s|\xCE\xBCs|ms|s|m|h))+)$";

SchemaNode OfType(const char* type) {
  SchemaNode node;
  node.type = type;
  return node;
}

// The metadata that a user sets in a template. Without these fields the API server would silently
// drop labels.
SchemaNode NestedObjectMeta() {
  SchemaNode node = OfType("object");
  SchemaNode map = OfType("object");
  map.values.push_back(OfType("string"));
  SchemaNode list = OfType("array");
  list.items.push_back(OfType("string"));
  node.properties = {{"annotations", map},
                     {"finalizers", list},
                     {"labels", map},
                     {"name", OfType("string")},
                     {"namespace", OfType("string")}};
  return node;
}

}  // namespace

std::optional<SchemaNode> KnownType(const google::protobuf::Descriptor& message) {
  if (IsObjectMeta(message)) return NestedObjectMeta();
  SchemaNode node;
  switch (HookOf(message)) {
    case JsonHook::kNone:
      return std::nullopt;
    case JsonHook::kTime:
    case JsonHook::kMicroTime:
      node = OfType("string");
      node.keywords["format"] = "date-time";
      break;
    case JsonHook::kDuration:
      node = OfType("string");
      node.keywords["pattern"] = kDurationPattern;
      break;
    case JsonHook::kQuantity:
      node.int_or_string = true;
      node.keywords["pattern"] = kQuantityPattern;
      break;
    case JsonHook::kIntOrString:
      node.int_or_string = true;
      break;
    case JsonHook::kEmbedded:
      node = OfType("object");
      node.keywords["x-kubernetes-preserve-unknown-fields"] = Yaml::Verbatim("true");
      break;
    case JsonHook::kStringList:
      node = OfType("array");
      node.items.push_back(OfType("string"));
      break;
  }
  return node;
}

bool IsObjectMeta(const google::protobuf::Descriptor& message) {
  return message.full_name() == "k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta";
}

}  // namespace mandate::rbacgen
