// Keeps the objects of one kind small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "manager/object/byte_dictionary.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"

namespace mandate {

// Objects of one kind have much in common: the names of fields, managedFields, what a template set.
// From the first large objects that pass, it trains a dictionary, with which it compresses all
// later ones. The first ones stay as they are.
//
// The dictionary has parts of those first objects, until Forget() drops it and Repack() has
// replaced the objects that were compressed with it. One thread only.
class ObjectPacker {
 public:
  struct Options {
    // Smaller objects are not compressed: there is little to gain. SIZE_MAX: none is.
    size_t min_object_bytes = 2048;
    // The dictionary is made from so many bytes of objects, and has at most so many.
    size_t sample_bytes = size_t{1} << 20;
    size_t dictionary_bytes = size_t{32} << 10;
  };

  explicit ObjectPacker(const Options& options) : options_(options) {}

  // Whether Pack() may compress it.
  bool IsLarge(const RawObject& object) const { return object.size() >= options_.min_object_bytes; }
  // The object, or the same object compressed.
  std::shared_ptr<const RawObject> Pack(std::shared_ptr<const RawObject> object);
  // The objects of these places must leave the memory. If the dictionary has parts of one, it is
  // dropped; the next objects that are packed train another one.
  void Forget(absl::FunctionRef<bool(const ObjectKey& place)> is_lost);
  // Whether a dictionary that was dropped may be in memory still, because objects need it.
  bool HasStale() const;
  // Whether this is such an object.
  bool IsStale(const RawObject& object) const {
    return object.dictionary() != nullptr && object.dictionary() != dictionary_.get();
  }
  // The same object as Pack() would give it now.
  std::shared_ptr<const RawObject> Repack(const std::shared_ptr<const RawObject>& object);

 private:
  // No sample has more than such a part of Options::sample_bytes, because training needs several.
  static constexpr size_t kFewestSamples = 16;

  void Train();

  const Options options_;
  std::shared_ptr<const ByteDictionary> dictionary_;  // null: not trained yet
  std::vector<std::weak_ptr<const ByteDictionary>> dropped_;
  std::vector<ObjectKey> sampled_;  // of which objects the samples, or the dictionary, have parts
  std::vector<std::string>
      samples_;  // the beginnings of these objects, until there is a dictionary
  size_t sampled_bytes_ = 0;
};

}  // namespace mandate
