// An index of the cache: the name of a value that objects have, and a function that reads that
// value.
//
//   view.IndexField<ScopeInstance>("spec.scopeTemplateName", [](const ScopeInstance& instance) {
//     return std::vector<std::string>{instance.spec().scopetemplatename()};
//   });
//   view.IndexField(KindOf<RoleBinding>::value, "controller", IndexByControllerUid());
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"

namespace mandate {

// The values of one field in an object: none, one or several. A pure function of the object: it is
// called on the threads of readers, on several at once, and must not read the cache. An error says
// that the values cannot be read; then the object counts for every value.
using IndexFunc = std::function<absl::StatusOr<std::vector<std::string>>(const RawObject& object)>;

// One declared index. Immutable.
struct IndexDefinition {
  KindInfo kind;
  std::string field;
  IndexFunc extract;
};

// A lookup of the objects whose field has the value; `ns` empty: in all namespaces.
struct IndexQuery {
  std::string_view field;
  std::string_view value;
  std::string_view ns = "";
};

// The value of the label; objects without the label have no value.
IndexFunc IndexByLabel(std::string key);

// The UID of the owner reference that is marked as controller.
IndexFunc IndexByControllerUid();

// The values that `values` reads from the decoded object. An object that cannot be decoded is an
// error.
template <Readable T, class Values>
IndexFunc IndexBy(Values values) {
  return [values = std::move(values)](
             const RawObject& object) -> absl::StatusOr<std::vector<std::string>> {
    const absl::StatusOr<T> decoded = object.Decode<T>();
    if (!decoded.ok()) return decoded.status();
    return values(*decoded);
  };
}

}  // namespace mandate
