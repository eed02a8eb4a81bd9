#include "manager/cache/index.h"

namespace mandate {

IndexFunc IndexByLabel(std::string key) {
  return [key = std::move(key)](const RawObject& object) -> std::vector<std::string> {
    const ObjectHeader header = object.Header();
    const auto label = header.labels.find(key);
    if (label == header.labels.end()) return {};
    return {label->second};
  };
}

IndexFunc IndexByControllerUid() {
  return [](const RawObject& object) -> std::vector<std::string> {
    const ObjectHeader header = object.Header();
    const OwnerReference* controller = header.Controller();
    if (controller == nullptr) return {};
    return {controller->uid};
  };
}

}  // namespace mandate
