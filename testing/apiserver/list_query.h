// The query of a list or watch (metav1.ListOptions), read and checked as the API server does.
#ifndef TESTING_APISERVER_LIST_QUERY_H_
#define TESTING_APISERVER_LIST_QUERY_H_

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

// Where a list that was cut at its limit goes on.
struct Continuation {
  int64_t revision = 0;  // -1: of the latest state, after an expired token
  std::string after;     // "namespace/name" or "name" of the last object that was listed

  std::string Encode() const;
  static absl::StatusOr<Continuation> Decode(std::string_view token);
};

// Which objects are meant. Immutable.
class ObjectFilter {
 public:
  // 400 for a selector that cannot be read or a field that the kind cannot be selected by.
  static absl::StatusOr<ObjectFilter> Create(const Request& request, const ResourceType& type);

  bool Matches(const StoredObject& object) const;
  // Asks for one name: there is nothing to continue with.
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
  // 400 for what cannot be read, 422 for what does not go together.
  static absl::StatusOr<ListQuery> Parse(const Request& request, const ResourceType& type);

  ObjectFilter filter;
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> initial_events;
  std::optional<int64_t> revision;  // nullopt: the parameter is absent or empty
  bool any_version = false;         // resourceVersion is 0, written so
  std::string match;                // "", "Exact", "NotOlderThan"
  int64_t limit = 0;                // 0: none
  std::optional<Continuation> continuation;
  std::optional<absl::Duration> timeout;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_LIST_QUERY_H_
