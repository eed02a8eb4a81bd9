#include "manager/controller/owner_rounds.h"

#include <utility>

namespace mandate {

bool OwnerRounds::Begin(const DemandSpec& stream) {
  const auto [at, is_new] = rounds_.try_emplace(stream);
  at->second.again = true;
  if (is_new) turns_.push_back(stream);
  return is_new && turns_.size() == 1;
}

std::vector<Request> OwnerRounds::NextSlice(Owners owners) {
  std::vector<Request> slice;
  if (turns_.empty()) return slice;
  DemandSpec stream = std::move(turns_.front());
  turns_.pop_front();
  Round& round = rounds_.at(stream);
  if (round.left.empty()) {
    round.again = false;
    owners(stream, [&](const ObjectKey& owner) { round.left.push_back({owner}); });
  }
  while (!round.left.empty() && slice.size() < kSlice) {
    slice.push_back(std::move(round.left.back()));
    round.left.pop_back();
  }
  if (round.left.empty() && !round.again) {
    rounds_.erase(stream);
  } else {
    turns_.push_back(std::move(stream));
  }
  return slice;
}

void OwnerRounds::Clear() {
  rounds_.clear();
  turns_.clear();
}

}  // namespace mandate
