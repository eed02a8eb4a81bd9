#include "rbacgen/crd/definition.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "api/mandate/options.pb.h"
#include "manager/core/strings.h"
#include "rbacgen/crd/resource_version.h"
#include "rbacgen/crd/type_schemas.h"

namespace mandate::rbacgen {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FileDescriptor;

// What all versions of a kind must agree in.
std::string SharedPart(const ResourceVersion& version) {
  return Yaml(Yaml::Map{{"names", NamesYaml(version)}, {"scope", version.resource.scope()}})
      .Write();
}

// The index of the version to store, -1 and a diagnostic if that is not clear.
int StoredVersion(const std::vector<ResourceVersion>& versions, Diagnostics* diagnostics) {
  const auto is_stored = [](const ResourceVersion& v) { return v.resource.storageversion(); };
  const auto stored = std::ranges::count_if(versions, is_stored);
  if (versions.size() == 1) return 0;
  const ResourceVersion& last = versions.back();
  if (stored != 1) {
    diagnostics->Error(last.place,
                       StrCat(last.kind, ": ", stored, " of its ", versions.size(),
                              " versions are storageVersion: true; exactly one must be"));
    return -1;
  }
  return static_cast<int>(std::ranges::find_if(versions, is_stored) - versions.begin());
}

void CheckVersions(const std::vector<ResourceVersion>& versions, Diagnostics* diagnostics) {
  std::set<std::string> names;
  for (const ResourceVersion& version : versions) {
    if (!names.insert(version.resource.version()).second) {
      diagnostics->Error(version.place, StrCat(version.kind, ": version ",
                                               version.resource.version(), " is declared twice"));
    }
    if (SharedPart(version) != SharedPart(versions.front())) {
      diagnostics->Error(version.place, StrCat(version.kind, ": its names or scope differ from ",
                                               versions.front().place.ToString(),
                                               "; all versions of a kind share them"));
    }
  }
  if (std::ranges::none_of(versions, [](const auto& v) { return v.resource.served(); })) {
    diagnostics->Error(versions.front().place,
                       StrCat(versions.front().kind, ": no version is served"));
  }
}

Yaml::Map MapYaml(const google::protobuf::Map<std::string, std::string>& map) {
  return {map.begin(), map.end()};
}

Definition MakeDefinition(std::vector<ResourceVersion> versions, const YamlOptions& options,
                          Diagnostics* diagnostics) {
  std::ranges::sort(versions, {}, [](const auto& v) { return v.resource.version(); });
  CheckVersions(versions, diagnostics);
  const int stored = StoredVersion(versions, diagnostics);
  if (stored < 0) return {};
  const ResourceVersion& chief = versions[stored];
  const std::string& group = chief.resource.group();
  const std::string& plural = chief.resource.plural();
  Yaml::Map metadata = {{"name", StrCat(plural, ".", group)}};
  if (!chief.resource.annotations().empty()) {
    metadata["annotations"] = MapYaml(chief.resource.annotations());
  }
  if (!chief.resource.labels().empty()) metadata["labels"] = MapYaml(chief.resource.labels());
  std::set<std::string> sources;
  Yaml::List version_list;
  for (const ResourceVersion& version : versions) {
    version_list.push_back(VersionYaml(version, &version == &chief, options));
    sources.insert(version.source);
  }
  const Yaml document = Yaml::Map{
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", std::move(metadata)},
      {"spec", Yaml::Map{{"group", group},
                         {"names", NamesYaml(chief)},
                         {"scope", chief.resource.scope()},
                         {"versions", std::move(version_list)}}},
  };
  return {StrCat(group, "_", plural, ".yaml"),
          StrCat("# Made by rbacgen crd from ", absl::StrJoin(sources, ", "),
                 "; edits here are lost.\n---\n", document.Write())};
}

using Kinds = std::map<std::pair<std::string, std::string>, std::vector<ResourceVersion>>;

void Collect(const Descriptor& message, const ProtoFiles& files, TypeSchemas* schemas,
             Diagnostics* diagnostics, Kinds* kinds) {
  for (int i = 0; i < message.nested_type_count(); ++i) {
    Collect(*message.nested_type(i), files, schemas, diagnostics, kinds);
  }
  if (!message.options().HasExtension(mandate::api::resource)) return;
  ResourceVersion version;
  version.kind = message.name();
  version.resource = message.options().GetExtension(mandate::api::resource);
  version.schema = schemas->OfResource(message);
  version.place = files.PlaceOfOption(message, mandate::api::resource.number());
  version.source = message.file()->name();
  CheckResource(version, diagnostics);
  auto key = std::pair(version.resource.group(), version.resource.plural());
  (*kinds)[std::move(key)].push_back(std::move(version));
}

}  // namespace

std::vector<Definition> MakeDefinitions(const std::vector<const FileDescriptor*>& sources,
                                        const ProtoFiles& files, const YamlOptions& options,
                                        Diagnostics* diagnostics) {
  Kinds kinds;
  TypeSchemas schemas(files, diagnostics);
  for (const FileDescriptor* source : sources) {
    for (int i = 0; i < source->message_type_count(); ++i) {
      Collect(*source->message_type(i), files, &schemas, diagnostics, &kinds);
    }
  }
  std::vector<Definition> definitions;
  for (auto& [key, versions] : kinds) {
    definitions.push_back(MakeDefinition(std::move(versions), options, diagnostics));
  }
  std::ranges::sort(definitions, {}, &Definition::file);
  return definitions;
}

}  // namespace mandate::rbacgen
