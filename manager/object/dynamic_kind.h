// A kind that is known only while the program runs.
#pragma once

#include <string>

#include "manager/object/kind.h"

namespace mandate {

// A kind whose names are not literals.
struct DynamicKind {
  std::string group;  // "" is core
  std::string version;
  std::string kind;
  std::string plural;
  Scope scope = Scope::kNamespaced;

  // Valid as long as this is, unchanged.
  KindInfo info() const {
    return {.group = group, .version = version, .kind = kind, .plural = plural, .scope = scope};
  }

  bool operator==(const DynamicKind&) const = default;
};

}  // namespace mandate
