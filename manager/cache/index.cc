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

IndexExtract OwnerUids() {
  return [](const RawObject& object) {
    const ObjectHeader header = object.Header();
    std::vector<std::string> uids;
    for (const OwnerReference& owner : header.owners) uids.push_back(owner.uid);
    return uids;
  };
}

}  // namespace mandate
