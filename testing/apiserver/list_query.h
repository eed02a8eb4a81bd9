// The query of a list or watch (metav1.ListOptions), with the API server's checks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/object/selector.h"
#include "testing/apiserver/kinds.h"
#include "testing/apiserver/plugin.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// The position where the next page of a list starts.
struct Continuation {
  int64_t revision = 0;  // -1: the latest state, after an expired token
  std::string after;     // "namespace/name" or "name" of the last listed object

  std::string Encode() const;
  static absl::StatusOr<Continuation> Decode(std::string_view token);
};

// The selected objects. Immutable.
class ObjectFilter {
 public:
  // 400 for an invalid selector or a field that the kind does not support.
  static absl::StatusOr<ObjectFilter> Create(const Request& request, const ResourceType& type);

  bool Matches(const StoredObject& object) const;
  // Whether it selects one name, so that there are no pages.
  bool names_one() const;
  bool everything() const { return labels_.MatchesEverything() && fields_.empty(); }

 private:
  struct FieldRequirement {
    std::vector<std::string> path;
    std::string value;
    bool equal = true;
  };

  std::string ns_;
  LabelSelector labels_;
  std::vector<FieldRequirement> fields_;
};

struct ListQuery {
  // 400 for an invalid parameter, 422 for an invalid combination.
  static absl::StatusOr<ListQuery> Parse(const Request& request, const ResourceType& type);

  ObjectFilter filter;
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> initial_events;
  std::optional<int64_t> revision;  // nullopt if the parameter is absent or empty
  bool any_version = false;         // the resourceVersion is "0"
  std::string match;                // "", "Exact", "NotOlderThan"
  int64_t limit = 0;                // 0: no limit
  std::optional<Continuation> continuation;
  std::optional<absl::Duration> timeout;
};

}  // namespace mandate::apiserver
