#include "manager/object/object_packer.h"

#include <algorithm>
#include <string>
#include <utility>

namespace mandate {

std::shared_ptr<const RawObject> ObjectPacker::Pack(std::shared_ptr<const RawObject> object) {
  if (!IsLarge(*object)) return object;
  if (dictionary_ == nullptr) {
    std::string sample = object->bytes();
    const size_t most = options_.sample_bytes / kFewestSamples;
    sampled_.push_back(object->Key());
    // A copy without the capacity of the whole.
    samples_.push_back(sample.size() > most ? sample.substr(0, most) : std::move(sample));
    sampled_bytes_ += samples_.back().size();
    if (sampled_bytes_ >= options_.sample_bytes) Train();
    return object;
  }
  auto compressed = object->Compressed(dictionary_);
  return compressed == nullptr ? std::move(object) : std::move(compressed);
}

void ObjectPacker::Forget(absl::FunctionRef<bool(const ObjectKey&)> is_lost) {
  if (dictionary_ != nullptr) {
    if (std::ranges::none_of(sampled_, is_lost)) return;
    std::erase_if(dropped_, [](const auto& dropped) { return dropped.expired(); });
    dropped_.push_back(dictionary_);
    dictionary_ = nullptr;
    sampled_.clear();
    return;
  }
  size_t kept = 0;
  for (size_t i = 0; i < sampled_.size(); ++i) {
    if (is_lost(sampled_[i])) {
      sampled_bytes_ -= samples_[i].size();
      continue;
    }
    std::swap(sampled_[kept], sampled_[i]);
    std::swap(samples_[kept], samples_[i]);
    ++kept;
  }
  sampled_.resize(kept);
  samples_.resize(kept);
}

bool ObjectPacker::HasStale() const {
  return std::ranges::any_of(dropped_, [](const auto& dropped) { return !dropped.expired(); });
}

std::shared_ptr<const RawObject> ObjectPacker::Repack(
    const std::shared_ptr<const RawObject>& object) {
  if (dictionary_ != nullptr) {
    if (auto compressed = object->Compressed(dictionary_)) return compressed;
  }
  // They were parsed before.
  return Pack(*ParseRawObject(object->bytes(), object->encoding()));
}

void ObjectPacker::Train() {
  // Without one, the next objects are the next samples.
  if (auto trained = ByteDictionary::Train(samples_, options_.dictionary_bytes); trained.ok()) {
    dictionary_ = *std::move(trained);
  } else {
    sampled_.clear();
  }
  samples_.clear();
  sampled_bytes_ = 0;
}

}  // namespace mandate
