// The kind of controllers/memcached/v1alpha1.
#pragma once

#include "controllers/memcached/v1alpha1/memcached.pb.h"
#include "manager/object/kind.h"

namespace mandate {

template <>
struct KindOf<memcached::v1alpha1::Memcached> {
  static constexpr KindInfo value = {.group = "cache.example.com",
                                     .version = "v1alpha1",
                                     .kind = "Memcached",
                                     .plural = "memcacheds",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kJson};
};

}  // namespace mandate
