#include "manager/cache/field_index.h"

#include <algorithm>
#include <iterator>

#include "manager/core/sha256.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr size_t kLongest = 64;

ObjectLess::Key KeyOf(const ObjectKey& key) { return {key.ns, key.name}; }

void Append(const ObjectSet& objects, std::string_view ns, std::vector<ObjectPtr>& result) {
  for (auto it = objects.lower_bound(ObjectLess::Key(ns, ""));
       it != objects.end() && (ns.empty() || it->object->ns() == ns); ++it) {
    result.push_back(it->object);
  }
}

}  // namespace

std::string FieldIndex::HeldValue(std::string_view value) {
  if (value.size() <= kLongest) return std::string(value);
  // Longer than kLongest, so that it is no short value.
  return StrCat(value.substr(0, kLongest), Sha256({value}));
}

void FieldIndex::Put(const ObjectPtr& object) {
  if (ObjectLess()(KeyOf(scanned_), object)) return;
  unread_.insert(object);
}

void FieldIndex::Remove(const ObjectPtr& object) {
  if (ObjectLess()(KeyOf(scanned_), object)) return;
  if (unread_.erase(object) + taken_.erase(object) + uncertain_.erase(object) > 0) return;
  const auto of = of_object_.find(object.get());
  if (of == of_object_.end()) return;
  for (Posting* posting : of->second) {
    posting->second.erase(object);
    if (posting->second.empty()) postings_.erase(postings_.find(posting->first));
  }
  of_object_.erase(of);
}

void FieldIndex::Swap(const ObjectPtr& object, const ObjectPtr& copy) {
  const auto swap_in = [&](ObjectSet& objects) {
    const auto found = objects.find(object);
    if (found != objects.end() && found->object == object) found->object = copy;
  };
  swap_in(unread_);
  swap_in(taken_);  // what a reader learns of the former one is not stored: it is taken again
  swap_in(uncertain_);
  auto postings = of_object_.extract(object.get());
  if (postings.empty()) return;
  for (Posting* posting : postings.mapped()) swap_in(posting->second);
  of_object_[copy.get()] = std::move(postings.mapped());
}

std::vector<ObjectPtr> FieldIndex::TakeUnread(const ObjectSet& all, size_t most) {
  std::vector<ObjectPtr> result;
  for (auto it = unread_.begin(); it != unread_.end() && result.size() < most; ++it) {
    result.push_back(it->object);
  }
  for (const ObjectPtr& object : result) unread_.erase(object);
  for (auto it = all.upper_bound(KeyOf(scanned_)); it != all.end() && result.size() < most; ++it) {
    result.push_back(it->object);
  }
  if (result.empty()) {
    // Another reader has taken the objects, and may be slow.
    for (auto it = taken_.begin(); it != taken_.end() && result.size() < most; ++it) {
      result.push_back(it->object);
    }
    return result;
  }
  const ObjectPtr& last = *std::max_element(result.begin(), result.end(), ObjectLess());
  if (ObjectLess()(KeyOf(scanned_), last)) scanned_ = last->Key();
  taken_.insert(result.begin(), result.end());
  return result;
}

void FieldIndex::Learn(const ObjectPtr& object, absl::StatusOr<std::vector<std::string>> values) {
  const auto taken = taken_.find(object);
  if (taken == taken_.end() || taken->object != object) return;
  taken_.erase(taken);
  if (!values.ok()) {
    uncertain_.insert(object);
    return;
  }
  std::sort(values->begin(), values->end());
  values->erase(std::unique(values->begin(), values->end()), values->end());
  if (values->empty()) return;
  auto& of = of_object_[object.get()];
  for (const std::string& value : *values) {
    Posting& posting = *postings_.try_emplace(HeldValue(value)).first;
    posting.second.insert(object);
    of.push_back(&posting);
  }
}

std::vector<ObjectPtr> FieldIndex::Find(std::string_view value, std::string_view ns) const {
  std::vector<ObjectPtr> result;
  const auto posting = postings_.find(HeldValue(value));
  if (posting != postings_.end()) Append(posting->second, ns, result);
  const auto certain = static_cast<ptrdiff_t>(result.size());
  Append(uncertain_, ns, result);
  std::inplace_merge(result.begin(), result.begin() + certain, result.end(), ObjectLess());
  return result;
}

}  // namespace mandate
