#include "manager/controller/predicates.h"

#include <algorithm>
#include <utility>

namespace mandate {
namespace {

// Accepts updates for which `changed(old, new)` holds, and all other events.
template <class Changed>
Predicate OnUpdate(Changed changed) {
  return [changed](const ObjectEvent& event) {
    if (event.type != ObjectEvent::Type::kUpdate || event.old == nullptr) return true;
    return changed(*event.old, *event.object);
  };
}

}  // namespace

Predicate GenerationChanged() {
  return OnUpdate([](const RawObject& old, const RawObject& current) {
    const int64_t generation = current.Header().generation;
    return generation == 0 || generation != old.Header().generation;
  });
}

Predicate ResourceVersionChanged() {
  return OnUpdate([](const RawObject& old, const RawObject& current) {
    return old.resource_version() != current.resource_version();
  });
}

Predicate LabelChanged() {
  return OnUpdate([](const RawObject& old, const RawObject& current) {
    return old.Header().labels != current.Header().labels;
  });
}

Predicate AnnotationChanged() {
  return OnUpdate([](const RawObject& old, const RawObject& current) {
    return old.Header().annotations != current.Header().annotations;
  });
}

Predicate LabelsMatch(LabelSelector selector) {
  return [selector = std::move(selector)](const ObjectEvent& event) {
    return selector.Matches(event.object->Header().labels) ||
           (event.old != nullptr && selector.Matches(event.old->Header().labels));
  };
}

Predicate AllOf(std::vector<Predicate> predicates) {
  return [predicates = std::move(predicates)](const ObjectEvent& event) {
    return std::all_of(predicates.begin(), predicates.end(),
                       [&event](const Predicate& predicate) { return predicate(event); });
  };
}

Predicate AnyOf(std::vector<Predicate> predicates) {
  return [predicates = std::move(predicates)](const ObjectEvent& event) {
    return std::any_of(predicates.begin(), predicates.end(),
                       [&event](const Predicate& predicate) { return predicate(event); });
  };
}

Predicate Not(Predicate predicate) {
  return [predicate = std::move(predicate)](const ObjectEvent& event) { return !predicate(event); };
}

Predicate PredicateFrom(PredicateFuncs funcs) {
  return [funcs = std::move(funcs)](const ObjectEvent& event) {
    switch (event.type) {
      case ObjectEvent::Type::kAdd:
        return !funcs.add || funcs.add(*event.object);
      case ObjectEvent::Type::kUpdate:
        return !funcs.update || event.old == nullptr || funcs.update(*event.old, *event.object);
      case ObjectEvent::Type::kDelete:
        return !funcs.remove || funcs.remove(*event.object);
    }
    return true;
  };
}

}  // namespace mandate
