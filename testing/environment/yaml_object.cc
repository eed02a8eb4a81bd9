#include "testing/environment/yaml_object.h"

#include <yaml-cpp/yaml.h>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "testing/conformance/json_yaml.h"

namespace mandate {

absl::StatusOr<Json::Value> ParseYaml(std::string_view text) {
  try {
    return conformance::ToJson(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(StrCat("not YAML: ", error.what(), "\n", text));
  }
}

absl::Status ParseYamlObject(std::string_view text, const KindInfo& kind,
                             google::protobuf::Message& object) {
  ASSIGN_OR_RETURN(const Json::Value json, ParseYaml(text));
  return FromJson(WriteJson(json), object, {.strict = true, .kind = &kind});
}

absl::StatusOr<std::vector<Json::Value>> ReadYamlFile(const std::string& path) {
  std::vector<Json::Value> documents;
  try {
    for (const YAML::Node& node : YAML::LoadAllFromFile(path)) {
      if (!node.IsNull()) documents.push_back(conformance::ToJson(node));
    }
  } catch (const YAML::BadFile&) {
    return absl::NotFoundError(StrCat(
        "cannot read ", path, "; is it in the test's data, with its path from the workspace?"));
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(StrCat(path, " is not YAML: ", error.what()));
  }
  return documents;
}

}  // namespace mandate
