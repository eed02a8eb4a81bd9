#include "manager/object/object_packer.h"

#include <string>
#include <utility>

namespace mandate {

std::shared_ptr<const RawObject> ObjectPacker::Pack(std::shared_ptr<const RawObject> object) {
  if (!IsLarge(*object)) return object;
  if (dictionary_ == nullptr) {
    std::string sample = object->bytes();
    const size_t most = options_.sample_bytes / kFewestSamples;
    // A copy without the capacity of the whole.
    samples_.push_back(sample.size() > most ? sample.substr(0, most) : std::move(sample));
    sampled_bytes_ += samples_.back().size();
    if (sampled_bytes_ >= options_.sample_bytes) Train();
    return object;
  }
  auto compressed = object->Compressed(dictionary_);
  return compressed == nullptr ? std::move(object) : std::move(compressed);
}

void ObjectPacker::Reset() {
  dictionary_ = nullptr;
  ForgetSamples();
}

void ObjectPacker::ForgetSamples() {
  samples_.clear();
  sampled_bytes_ = 0;
}

void ObjectPacker::Train() {
  // Without one, the next objects are the next samples.
  if (auto trained = ByteDictionary::Train(samples_, options_.dictionary_bytes); trained.ok()) {
    dictionary_ = *std::move(trained);
  }
  ForgetSamples();
}

}  // namespace mandate
