#include "manager/controller/handlers.h"

#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace mandate {
namespace {

// Appends each request that is not yet among those from `first` on.
void AppendNew(std::vector<Request> from, size_t first, std::vector<Request>& requests) {
  if (from.empty()) return;
  absl::flat_hash_set<Request> seen(requests.begin() + static_cast<std::ptrdiff_t>(first),
                                    requests.end());
  for (Request& request : from) {
    if (seen.insert(request).second) requests.push_back(std::move(request));
  }
}

// "apps/v1" -> "apps"; "v1" -> "".
std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

// An owner is in the namespace of its dependent, or is cluster-scoped.
void AppendOwners(const RawObject& object, const KindInfo& owner, bool controllers_only,
                  std::vector<Request>& found) {
  const ObjectHeader header = object.Header();
  for (const OwnerReference& reference : header.owners) {
    if (controllers_only && !reference.controller) continue;
    if (reference.kind != owner.kind || GroupOf(reference.api_version) != owner.group) continue;
    found.push_back({{owner.scope == Scope::kCluster ? "" : header.ns, reference.name}});
  }
}

EventHandler ForOwners(const KindInfo& owner, bool controllers_only) {
  return [owner, controllers_only](const ObjectEvent& event, std::vector<Request>& requests) {
    const size_t first = requests.size();
    std::vector<Request> found;
    if (event.old != nullptr) AppendOwners(*event.old, owner, controllers_only, found);
    AppendOwners(*event.object, owner, controllers_only, found);
    AppendNew(std::move(found), first, requests);
    return absl::OkStatus();
  };
}

}  // namespace

EventHandler EnqueueObject() {
  return [](const ObjectEvent& event, std::vector<Request>& requests) {
    requests.push_back({event.object->Key()});
    return absl::OkStatus();
  };
}

EventHandler EnqueueControllerOwner(const KindInfo& owner) {
  return ForOwners(owner, /*controllers_only=*/true);
}

EventHandler EnqueueOwners(const KindInfo& owner) {
  return ForOwners(owner, /*controllers_only=*/false);
}

EventHandler EnqueueMappedEvent(EventMapFunc map) {
  return [map = std::move(map)](const ObjectEvent& event, std::vector<Request>& requests) {
    AppendNew(map(event), requests.size(), requests);
    return absl::OkStatus();
  };
}

namespace internal {

EventHandler EnqueueRawMap(RawMap map) {
  return [map = std::move(map)](const ObjectEvent& event, std::vector<Request>& requests) {
    const size_t first = requests.size();
    absl::Status status;
    // If one object cannot be decoded, the requests of the other still count.
    for (const auto& object : {event.old, event.object}) {
      if (object == nullptr) continue;
      absl::StatusOr<std::vector<Request>> mapped = map(*object);
      if (mapped.ok()) {
        AppendNew(*std::move(mapped), first, requests);
      } else {
        status.Update(mapped.status());
      }
    }
    return status;
  };
}

}  // namespace internal
}  // namespace mandate
