#include "rbacgen/emit/crd/resource_version.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

using mandate::api::PrinterColumn;
using mandate::api::Resource;

constexpr size_t kMostSelectableFields = 8;
constexpr size_t kLongestWarning = 256;

constexpr std::string_view kColumnFormats[] = {"int32", "int64", "float",     "double",
                                               "byte",  "date",  "date-time", "password"};
constexpr std::string_view kColumnTypes[] = {"integer", "number", "string", "boolean", "date"};

bool IsLowerName(const std::string& text) {
  return CheckDnsLabel(text).ok() && absl::ascii_isalpha(static_cast<unsigned char>(text.front()));
}

bool IsProtectedGroup(std::string_view group) {
  return group == "k8s.io" || group == "kubernetes.io" || group.ends_with(".k8s.io") ||
         group.ends_with(".kubernetes.io");
}

std::string Singular(const ResourceVersion& version) {
  return version.resource.has_singular() ? version.resource.singular()
                                         : absl::AsciiStrToLower(version.kind);
}

std::string ListKind(const ResourceVersion& version) {
  return version.resource.has_listkind() ? version.resource.listkind() : version.kind + "List";
}

class Checker {
 public:
  Checker(const ResourceVersion& version, Diagnostics* diagnostics)
      : version_(version), resource_(version.resource), diagnostics_(*diagnostics) {}

  void Run() {
    if (!resource_.unknown_fields().empty()) {
      Error(
          "option resource has fields that this version of rbacgen does not know; use a newer "
          "version");
    }
    Names();
    if (resource_.has_deprecationwarning() && !resource_.deprecated()) {
      Error("deprecationWarning is for a version that is deprecated: true");
    }
    if (resource_.has_deprecationwarning()) Warning(resource_.deprecationwarning());
    Metadata();
    std::set<std::string> names;
    for (const PrinterColumn& column : resource_.printercolumns()) {
      Column(column);
      if (!names.insert(column.name()).second) {
        Error("two printer columns are named ", Quoted(column.name()));
      }
    }
    if (resource_.has_scale()) {
      Path("scale.specReplicasPath", resource_.scale().specreplicaspath(), ".spec.");
      Path("scale.statusReplicasPath", resource_.scale().statusreplicaspath(), ".status.");
      if (resource_.scale().has_labelselectorpath()) {
        SelectorPath(resource_.scale().labelselectorpath());
      }
    }
    SelectableFields();
  }

 private:
  template <class... Parts>
  void Error(const Parts&... parts) {
    diagnostics_.Error(version_.place, StrCat(version_.kind, ": ", parts...));
  }

  void Names() {
    const auto& group = resource_.group();
    if (!CheckDnsSubdomain(group).ok() || group.find('.') == std::string::npos) {
      Error("group ", Quoted(group), " must be a domain name, such as example.com");
    } else if (IsProtectedGroup(group) &&
               !resource_.annotations().contains("api-approved.kubernetes.io")) {
      Error("group ", group,
            " is reserved for Kubernetes: use your own domain, or add the approval as annotation "
            "api-approved.kubernetes.io");
    }
    if (!IsLowerName(resource_.version())) {
      Error("version ", Quoted(resource_.version()), " must be a version such as v1 or v1alpha1");
    }
    const std::string list_kind = ListKind(version_);
    if (list_kind == version_.kind || !IsLowerName(absl::AsciiStrToLower(list_kind))) {
      Error("listKind ", Quoted(list_kind),
            " must be a kind name of at most 63 letters that differs ", "from the kind");
    }
    if (!IsLowerName(resource_.plural())) {
      Error("plural ", Quoted(resource_.plural()), " must be the kind's plural in lower case");
    }
    if (!IsLowerName(Singular(version_))) {
      Error("singular ", Quoted(Singular(version_)),
            " must consist of lower-case letters and digits");
    }
    if (resource_.scope() != "Namespaced" && resource_.scope() != "Cluster") {
      Error("scope ", Quoted(resource_.scope()), " must be one of Namespaced, Cluster");
    }
    std::set<std::string> seen = {resource_.plural(), Singular(version_)};
    for (const std::string& name : resource_.shortnames()) {
      if (!IsLowerName(name))
        Error("shortNames ", Quoted(name), " must consist of lower-case letters");
      if (!seen.insert(name).second)
        Error("shortNames ", Quoted(name), " is already a name of this kind");
    }
    for (const std::string& category : resource_.categories()) {
      if (!IsLowerName(category))
        Error("categories ", Quoted(category), " must consist of lower-case letters");
    }
  }

  void Warning(const std::string& text) {
    const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
    if (text.empty() || text.size() > kLongestWarning || std::ranges::any_of(text, is_control)) {
      Error("deprecationWarning must be one line of at most ", kLongestWarning, " characters");
    }
  }

  void Metadata() {
    for (const auto& [key, value] : resource_.annotations()) Key("annotation", key);
    for (const auto& [key, value] : resource_.labels()) {
      Key("label", key);
      if (!CheckLabelValue(value).ok()) {
        Error("label ", key, ": value ", Quoted(value), " is not a valid label value");
      }
    }
  }

  void Key(std::string_view what, const std::string& key) {
    if (!CheckLabelKey(key).ok()) {
      Error(what, " ", Quoted(key), " must be a name such as example.com/owner");
    }
  }

  void SelectorPath(const std::string& path) {
    Path("scale.labelSelectorPath", path, path.starts_with(".spec.") ? ".spec." : ".status.");
  }

  void SelectableFields() {
    std::set<std::string> seen;
    for (const std::string& path : resource_.selectablefields()) {
      if (!seen.insert(path).second) Error("selectableFields contains ", path, " twice");
      if (path.starts_with(".metadata")) {
        Error("selectableFields ", path, ": fields of metadata need no option: name and namespace ",
              "can be selected, others cannot");
        continue;
      }
      Path("selectableFields", path, ".");
      const SchemaNode* node = NodeAt(version_.schema, path);
      if (node != nullptr && node->type != "string" && node->type != "boolean" &&
          node->type != "integer") {
        Error("selectableFields ", path, " must be a string, boolean or integer");
      }
    }
    if (seen.size() > kMostSelectableFields) {
      Error("more than ", kMostSelectableFields, " selectableFields");
    }
  }

  void Column(const PrinterColumn& column) {
    if (column.name().empty()) Error("a printer column has no name");
    if (std::ranges::find(kColumnTypes, column.type()) == std::end(kColumnTypes)) {
      Error("printer column ", column.name(), ": type ", Quoted(column.type()),
            " must be one of integer, number, string, boolean, date");
    }
    if (column.has_format() &&
        std::ranges::find(kColumnFormats, column.format()) == std::end(kColumnFormats)) {
      Error("printer column ", column.name(), ": format ", Quoted(column.format()),
            " must be one of int32, int64, float, double, byte, date, date-time, password");
    }
    Path(StrCat("printer column ", column.name(), ": jsonPath"), column.jsonpath(), ".");
  }

  void Path(std::string_view what, const std::string& path, std::string_view start) {
    if (!path.starts_with(start) || path.size() <= start.size()) {
      Error(what, " ", Quoted(path), " must be a path that begins with ", start);
    } else if (const std::string why = MissingStep(version_.schema, path); !why.empty()) {
      Error(what, " ", path, " does not exist: ", why);
    }
  }

  const ResourceVersion& version_;
  const Resource& resource_;
  Diagnostics& diagnostics_;
};

Yaml ColumnYaml(const PrinterColumn& column) {
  Yaml::Map map = {
      {"jsonPath", column.jsonpath()}, {"name", column.name()}, {"type", column.type()}};
  if (column.has_description()) map["description"] = column.description();
  if (column.has_format()) map["format"] = column.format();
  if (column.priority() != 0) map["priority"] = Yaml::Verbatim(StrCat(column.priority()));
  return map;
}

Yaml::Map SubresourcesYaml(const Resource& resource) {
  Yaml::Map map;
  if (resource.has_scale()) {
    Yaml::Map scale = {{"specReplicasPath", resource.scale().specreplicaspath()},
                       {"statusReplicasPath", resource.scale().statusreplicaspath()}};
    if (resource.scale().has_labelselectorpath()) {
      scale["labelSelectorPath"] = resource.scale().labelselectorpath();
    }
    map["scale"] = std::move(scale);
  }
  if (resource.statussubresource()) map["status"] = Yaml::Map{};
  return map;
}

template <class Strings>
Yaml::List ListYaml(const Strings& strings) {
  return {strings.begin(), strings.end()};
}

}  // namespace

void CheckResource(const ResourceVersion& version, Diagnostics* diagnostics) {
  Checker(version, diagnostics).Run();
}

Yaml::Map NamesYaml(const ResourceVersion& version) {
  const Resource& resource = version.resource;
  Yaml::Map names = {{"kind", version.kind},
                     {"listKind", ListKind(version)},
                     {"plural", resource.plural()},
                     {"singular", Singular(version)}};
  if (!resource.shortnames().empty()) names["shortNames"] = ListYaml(resource.shortnames());
  if (!resource.categories().empty()) names["categories"] = ListYaml(resource.categories());
  return names;
}

Yaml VersionYaml(const ResourceVersion& version, bool stored, const YamlOptions& options) {
  const Resource& resource = version.resource;
  Yaml::Map map = {
      {"name", resource.version()},
      {"schema", Yaml::Map{{"openAPIV3Schema", ToYaml(version.schema, options)}}},
      {"served", Yaml::Verbatim(resource.served() ? "true" : "false")},
      {"storage", Yaml::Verbatim(stored ? "true" : "false")},
  };
  if (!resource.printercolumns().empty()) {
    Yaml::List columns;
    for (const PrinterColumn& column : resource.printercolumns()) {
      columns.push_back(ColumnYaml(column));
    }
    map["additionalPrinterColumns"] = std::move(columns);
  }
  if (Yaml::Map subresources = SubresourcesYaml(resource); !subresources.empty()) {
    map["subresources"] = std::move(subresources);
  }
  if (resource.deprecated()) map["deprecated"] = Yaml::Verbatim("true");
  if (resource.has_deprecationwarning()) map["deprecationWarning"] = resource.deprecationwarning();
  if (!resource.selectablefields().empty()) {
    Yaml::List fields;
    for (const std::string& path : resource.selectablefields()) {
      fields.emplace_back(Yaml::Map{{"jsonPath", path}});
    }
    map["selectableFields"] = std::move(fields);
  }
  return map;
}

}  // namespace mandate::rbacgen
