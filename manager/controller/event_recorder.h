// Events of a component about objects, as `kubectl describe` shows them.
#pragma once

#include <string>
#include <string_view>

#include "manager/object/kind.h"
#include "manager/object/raw_object.h"

namespace mandate {

enum class EventType { kNormal, kWarning };

// The object that an event is about.
struct ObjectRef {
  std::string api_version;
  std::string kind;
  std::string ns;  // empty: cluster-scoped; its events are in the namespace "default"
  std::string name;
  std::string uid;
  std::string resource_version = {};

  bool operator==(const ObjectRef&) const = default;
};

template <Object T>
ObjectRef RefTo(const T& object) {
  constexpr KindInfo kind = KindOf<T>::value;
  const auto& metadata = object.metadata();
  return {kind.ApiVersion(), std::string(kind.kind), metadata.namespace_(),
          metadata.name(),   metadata.uid(),         metadata.resourceversion()};
}

inline ObjectRef RefTo(const KindInfo& kind, const RawObject& object) {
  return {kind.ApiVersion(),         std::string(kind.kind),
          std::string(object.ns()),  std::string(object.name()),
          std::string(object.uid()), std::string(object.resource_version())};
}

// Implementations are thread-safe.
class EventRecorder {
 public:
  virtual ~EventRecorder() = default;

  // Returns at once; recording is best effort. Call it when something has changed, not for each
  // reconciliation. `reason` and `action` are single words in CamelCase ("Bound",
  // "CreateRoleBinding"), `note` is a sentence. Long texts are cut.
  virtual void Record(const ObjectRef& regarding, EventType type, std::string_view reason,
                      std::string_view action, std::string_view note) = 0;
};

// The recorder of a component whose mandate has no events (events=none).
class DiscardingEventRecorder : public EventRecorder {
 public:
  void Record(const ObjectRef&, EventType, std::string_view, std::string_view,
              std::string_view) override {}
};

}  // namespace mandate
