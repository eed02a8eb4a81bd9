#include "rbacgen/emit/crd/field_names.h"

#include <map>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "manager/core/strings.h"
#include "manager/object/json_names.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Whether a path such as .spec.replicas can have the name.
bool IsPathStep(std::string_view name) {
  constexpr std::string_view kOthers = "_-";
  if (name.empty()) return false;
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) &&
        kOthers.find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace

void CheckFieldNames(const Descriptor& message, const ProtoFiles& files, Diagnostics* diagnostics) {
  std::map<std::string, const FieldDescriptor*> seen;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const std::string name(JsonName(field));
    const auto error = [&](const std::string& text) {
      diagnostics->Error(files.PlaceOf(field), text);
    };
    if (!IsPathStep(name)) {
      error(StrCat(
          field.name(), " is ", Quoted(name),
          " in JSON: a name must consist of letters, digits, - and _, or no path can refer to it"));
    }
    const auto [other, is_new] = seen.emplace(absl::AsciiStrToLower(name), &field);
    if (is_new) continue;
    const std::string_view taken = JsonName(*other->second);
    const std::string both = StrCat(other->second->name(), " and ", field.name(), " are ");
    error(name == taken ? StrCat(both, "both ", name, " in JSON: rename one of them")
                        : StrCat(both, taken, " and ", name,
                                 " in JSON, which differ only in case: rename one of them"));
  }
}

}  // namespace mandate::rbacgen
