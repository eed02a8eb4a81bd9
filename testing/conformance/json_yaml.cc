#include "testing/conformance/json_yaml.h"

#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"

namespace mandate::conformance {
namespace {

Json::Value Plain(const std::string& text) {
  if (text.empty() || text == "~" || text == "null") return Json::nullValue;
  if (text == "true") return true;
  if (text == "false") return false;
  int64_t integer;
  double number;
  const bool numeric = text.find_first_not_of("0123456789+-.eE") == std::string::npos;
  if (numeric && absl::SimpleAtoi(text, &integer)) return Json::Int64(integer);
  if (numeric && absl::SimpleAtod(text, &number)) return number;
  return text;
}

}  // namespace

Json::Value ToJson(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return node.Tag() == "?" ? Plain(node.Scalar()) : Json::Value(node.Scalar());
    case YAML::NodeType::Sequence: {
      Json::Value list(Json::arrayValue);
      for (const YAML::Node& element : node) list.append(ToJson(element));
      return list;
    }
    case YAML::NodeType::Map: {
      Json::Value object(Json::objectValue);
      for (const auto& member : node) object[member.first.Scalar()] = ToJson(member.second);
      return object;
    }
    default:
      return Json::nullValue;
  }
}

}  // namespace mandate::conformance
