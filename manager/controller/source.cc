#include "manager/controller/source.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

Source Merge(Source a, Source b) {
  Source both{.demand = a.demand,
              .handler = nullptr,
              .predicates = {},
              .is_primary = a.is_primary || b.is_primary};
  both.handler = [a = std::move(a), b = std::move(b)](const ObjectEvent& event,
                                                      std::vector<Request>& requests) {
    absl::Status status = MapEvent(a, event, requests);
    status.Update(MapEvent(b, event, requests));
    return status;
  };
  return both;
}

}  // namespace

absl::Status MapEvent(const Source& source, const ObjectEvent& event,
                      std::vector<Request>& requests) {
  std::string what = "an exception of unknown type";
  try {
    for (const Predicate& predicate : source.predicates) {
      if (!predicate(event)) return absl::OkStatus();
    }
    return source.handler(event, requests);
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  return absl::InternalError(AsAbsl(StrCat("a predicate or handler threw: ", what)));
}

std::vector<Source> MergeSources(std::vector<Source> sources) {
  std::vector<Source> merged;
  for (Source& source : sources) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const Source& other) {
      return other.demand == source.demand && other.handler != nullptr && source.handler != nullptr;
    });
    if (same == merged.end()) {
      merged.push_back(std::move(source));
    } else {
      *same = Merge(std::move(*same), std::move(source));
    }
  }
  return merged;
}

}  // namespace mandate
