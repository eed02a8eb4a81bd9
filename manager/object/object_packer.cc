#include "manager/object/object_packer.h"

#include <string>
#include <utility>

namespace mandate {

std::shared_ptr<const RawObject> ObjectPacker::Pack(std::shared_ptr<const RawObject> object) {
  if (!IsLarge(*object)) return object;
  if (dictionary_ == nullptr) {
    sampled_bytes_ += object->size();
    samples_.push_back(object);
    if (sampled_bytes_ >= options_.sample_bytes) Train();
    return object;
  }
  auto compressed = object->Compressed(dictionary_);
  return compressed == nullptr ? std::move(object) : std::move(compressed);
}

void ObjectPacker::Reset() {
  dictionary_ = nullptr;
  samples_.clear();
  sampled_bytes_ = 0;
}

void ObjectPacker::Train() {
  std::vector<std::string> texts;
  texts.reserve(samples_.size());
  for (const auto& sample : samples_) texts.push_back(sample->bytes());
  samples_.clear();
  sampled_bytes_ = 0;
  // Without one, the next objects are the next samples.
  if (auto trained = ByteDictionary::Train(texts, options_.dictionary_bytes); trained.ok()) {
    dictionary_ = *std::move(trained);
  }
}

}  // namespace mandate
