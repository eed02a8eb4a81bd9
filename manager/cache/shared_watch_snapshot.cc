// The state of a SharedWatch, for people.
#include "manager/cache/shared_watch.h"

namespace mandate {

void SharedWatch::AddSnapshots(std::string_view component,
                               std::vector<WatchSnapshot>& snapshots) const {
  for (const auto& member : members_) {
    if (!component.empty() && member->client().component() != component) continue;
    WatchSnapshot& entry = snapshots.emplace_back();
    entry.component = std::string(member->client().component());
    entry.spec = config_.spec;
    entry.is_sponsor = member.get() == sponsor_;
    if (keeper_ != nullptr) entry.covered_by = keeper_->spec();
    entry.state = member->status().state;
    entry.since = member->since();
    entry.reason = member->status().reason.code();
    entry.failed = member->status().failed;
    if (stream_ == nullptr) continue;
    entry.version = stream_->store()->resource_version();
    entry.objects = stream_->store()->size();
    entry.bytes = stream_->store()->bytes().stored;
  }
}

}  // namespace mandate
