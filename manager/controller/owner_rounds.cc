#include "manager/controller/owner_rounds.h"

#include <algorithm>
#include <utility>

namespace mandate {

OwnerRounds::Round& OwnerRounds::Find(const DemandSpec& stream) {
  const auto [at, is_new] = rounds_.try_emplace(stream);
  if (is_new) turns_.push_back(stream);
  return at->second;
}

bool OwnerRounds::Begin(const DemandSpec& stream) {
  const bool is_first = empty();
  Find(stream).ForAll();
  return is_first;
}

void OwnerRounds::Round::ForAll() {
  for_all = true;
  labels.clear();
  most = bytes = 0;
}

bool OwnerRounds::Begin(const DemandTable& table, const DemandSpec& stream, const Labels& labels) {
  const bool is_first = empty();
  Round& round = Find(stream);
  if (round.for_all || std::ranges::find(round.labels, labels) != round.labels.end()) {
    return is_first;
  }
  round.most += table.MostOwners(stream, labels);
  for (const auto& [name, value] : labels) round.bytes += name.size() + value.size();
  if (round.most >= table.MostOwners(stream) || round.labels.size() == kMostLabels ||
      round.bytes > kMostLabelBytes) {
    round.ForAll();
  } else {
    round.labels.push_back(labels);
  }
  return is_first;
}

void OwnerRounds::Round::Fill(const DemandSpec& stream, const DemandTable& table) {
  const auto add = [&](const ObjectKey& owner) { left.push_back({owner}); };
  if (std::exchange(for_all, false)) table.ForEachOwner(stream, add);
  for (const Labels& of : std::exchange(labels, {})) table.ForEachOwner(stream, of, add);
  most = bytes = 0;
  std::ranges::sort(left);
  left.erase(std::ranges::unique(left).begin(), left.end());
}

std::vector<Request> OwnerRounds::NextSlice(const DemandTable& table) {
  std::vector<Request> slice;
  if (turns_.empty()) return slice;
  DemandSpec stream = std::move(turns_.front());
  turns_.pop_front();
  Round& round = rounds_.at(stream);
  if (round.left.empty()) round.Fill(stream, table);
  while (!round.left.empty() && slice.size() < kSlice) {
    slice.push_back(std::move(round.left.back()));
    round.left.pop_back();
  }
  if (round.left.empty() && !round.Again()) {
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
