// Objects and events from short JSON.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "manager/cache/cache_view.h"
#include "manager/object/raw_object.h"

namespace mandate {

// `metadata` is the text between the braces: R"("name":"a","generation":2)".
inline std::shared_ptr<const RawObject> RawWith(const std::string& metadata) {
  auto raw = ParseRawObject(R"({"metadata":{)" + metadata + "}}", Encoding::kJson);
  if (!raw.ok()) {
    std::fprintf(stderr, "RawWith(%s): %s\n", metadata.c_str(), raw.status().ToString().c_str());
    std::abort();
  }
  return *std::move(raw);
}

inline ObjectEvent Added(std::shared_ptr<const RawObject> object, bool initial = false) {
  return {ObjectEvent::Type::kAdd, std::move(object), nullptr, initial};
}
inline ObjectEvent Updated(std::shared_ptr<const RawObject> old,
                           std::shared_ptr<const RawObject> current) {
  return {ObjectEvent::Type::kUpdate, std::move(current), std::move(old), false};
}
inline ObjectEvent Deleted(std::shared_ptr<const RawObject> object) {
  return {ObjectEvent::Type::kDelete, std::move(object), nullptr, false};
}

}  // namespace mandate
