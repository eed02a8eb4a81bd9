// The kind of controllers/memcached/bar/v1.
#pragma once

#include "controllers/memcached/bar/v1/bar.pb.h"
#include "manager/object/kind.h"

namespace mandate {

template <>
struct KindOf<bar::v1::Bar> {
  static constexpr KindInfo value = {.group = "operators.io.operator-framework",
                                     .version = "v1",
                                     .kind = "Bar",
                                     .plural = "bars",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kJson};
};

}  // namespace mandate
