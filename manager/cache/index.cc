#include "manager/cache/index.h"

namespace mandate {

IndexExtract LabelValue(std::string key) {
  return [key = std::move(key)](const RawObject& object) -> std::vector<std::string> {
    const ObjectHeader header = object.Header();
    const auto label = header.labels.find(key);
    if (label == header.labels.end()) return {};
    return {label->second};
  };
}

IndexExtract ControllerUid() {
  return [](const RawObject& object) -> std::vector<std::string> {
    const ObjectHeader header = object.Header();
    const OwnerReference* controller = header.Controller();
    if (controller == nullptr) return {};
    return {controller->uid};
  };
}

}  // namespace mandate
