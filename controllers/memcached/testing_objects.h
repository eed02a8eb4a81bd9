// Objects of the document's demonstration, for tests.
#pragma once

#include <string>
#include <vector>

#include "controllers/memcached/kind.h"
#include "controllers/memcached/plan.h"

namespace mandate::memcached {

inline v1alpha1::Memcached Sample(int size = 1) {
  v1alpha1::Memcached memcached;
  memcached.mutable_metadata()->set_name("memcached-sample-denied");
  memcached.mutable_metadata()->set_namespace_("denied");
  memcached.mutable_metadata()->set_uid("uid-1");
  memcached.mutable_spec()->set_size(size);
  return memcached;
}

inline std::vector<PodMetadata> Pods(const std::vector<std::string>& names) {
  std::vector<PodMetadata> pods;
  for (const std::string& name : names) {
    pods.emplace_back().mutable_metadata()->set_name(name);
  }
  return pods;
}

}  // namespace mandate::memcached
