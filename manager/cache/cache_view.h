// A component's view of the cache. Demands open watches; one store holds the objects of all
// watches; a component sees only the objects for which it has proved its access.
//
//   // Opens a watch, or joins one:
//   auto demand = view.Demand({KindOf<Namespace>::value, "", ""}, sink);
//   // Never opens one:
//   auto ns = view.Get<Namespace>(context, {"", "default"});
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/cache/index.h"
#include "manager/core/call_context.h"
#include "manager/core/executor.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"
#include "manager/object/selector.h"

namespace mandate {

// The objects to read: all of a kind, those of a kind in one namespace, or one object.
struct DemandSpec {
  KindInfo kind;
  std::string ns;    // empty: cluster-wide
  std::string name;  // empty: every object
  // A label selector that the server applies, as LabelSelector::ToString() prints it: other objects
  // do not leave the server. Empty: whatever their labels are. Only if `name` is empty.
  std::string labels = {};

  // A namespace or name that somebody left empty, and which must not become "every". Such a demand
  // is denied.
  static constexpr char kEmpty[] = "<empty>";

  bool operator==(const DemandSpec&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const DemandSpec& spec) {
    return H::combine(std::move(h), spec.kind.group, spec.kind.plural, spec.kind.metadata_only,
                      spec.kind.trim, spec.ns, spec.name, spec.labels);
  }
  // "secrets in namespace foo with labels app=web"; for messages.
  std::string ToString() const;
};

enum class DemandState {
  kPending,     // not asked yet, or the answer is not in yet
  kSynced,      // the view has every object: NotFound means absent
  kForbidden,   // the component may not list and watch this; asked again, slowly
  kKindAbsent,  // the server does not serve the kind (yet); asked again
  kStale,       // was synced; the watch is down and being reopened
};

// "Synced"; for logs and conditions.
std::string_view ToString(DemandState state);

struct DemandStatus {
  DemandState state = DemandState::kPending;
  // OK when synced; else why, naming component, verb and resource.
  absl::Status reason;
  // The last try has failed, or has had no answer for long; else the first one, or the next one,
  // is under way.
  bool failed = false;

  // Whether a sink that got `other` need not get this status: only the text differs.
  bool EqualsIgnoringText(const DemandStatus& other) const {
    return state == other.state && failed == other.failed && reason.code() == other.reason.code();
  }
};

// One change of one object.
struct ObjectEvent {
  enum class Type { kAdd, kUpdate, kDelete };
  Type type = Type::kAdd;
  std::shared_ptr<const RawObject> object;  // kDelete: its last known state
  std::shared_ptr<const RawObject> old;     // kUpdate only
  bool initial = false;                     // part of the first list, not news
};

// Called on the loop; must return at once. A controller's sink passes everything on to its
// component's strand.
class DemandSink {
 public:
  virtual ~DemandSink() = default;
  // Called in the server's order for each object, only for objects that the component may see.
  virtual void OnEvent(const ObjectEvent& event) = 0;
  // The component has lost its access, and the state becomes kForbidden; or the watch made room in
  // the budget (WatchBudget), and the state becomes kPending. The cache no longer keeps these
  // objects for the sink, and the sink should not keep them, either. They may still exist. When
  // they can be read again, all objects come as adds. No event reports that one of these was
  // deleted.
  virtual void OnPurged(const std::vector<std::shared_ptr<const RawObject>>& objects) {
    static_cast<void>(objects);
  }
  // Called when the state changes (it begins as kPending), when the code of the reason changes, and
  // when a try fails; the handle's status() has the latest reason. kSynced follows all events of
  // the initial list.
  virtual void OnState(const DemandStatus& status) = 0;
  // The tenants for whom the demand is made, such as namespaces; "": the component itself. While
  // the demand is denied, the probes of tenants take turns, and this one has the first turn of any
  // of these (ProbeBudget). DemandHandle::AddFlow() tells of a further one.
  virtual std::set<std::string> Flows() const { return {""}; }
};

// Destroying it ends the demand; the last demand of a watch closes it. Any thread; no event is
// delivered after destruction on the loop's thread.
class DemandHandle {
 public:
  virtual ~DemandHandle() = default;
  virtual DemandStatus status() const = 0;

  // For sinks that do not keep up. From the loop's next turn on, the sink gets no events until
  // Resume(). Then it gets the differences to its last events, and all later events. States are
  // always reported. The cache keeps the objects of the last events.
  virtual void Pause() = 0;
  virtual void Resume() = 0;

  // The sink has one more of Flows(). Those that it has no longer count until the next probe.
  virtual void AddFlow(std::string flow) = 0;
};

// For reads that must not wait, as in a map, or on the loop, where any other context is an error.
// They return at once; kDeadlineExceeded: they would have to wait.
inline CallContext NonBlockingContext() { return {.deadline = absl::InfinitePast(), .stop = {}}; }

// One component's view. Thread-safe. A read includes all earlier writes by the component's typed
// calls. If the watch has not delivered such a write yet, the read waits, within `context` and a
// limit.
//
// Errors of reads: kNotFound: the object is certainly absent. kFailedPrecondition: no demand of
// this component covers the read, or it was made on the loop with a context that may wait. A demand
// whose selector the server applies covers a read by key if it has the object; that it does not
// have the object proves nothing.
// kUnavailable: not synced yet, or stale. kPermissionDenied: forbidden. kDeadlineExceeded: the
// watch did not deliver the component's own write in time.
class CacheView {
 public:
  virtual ~CacheView() = default;

  // The demands that this one becomes: itself; of a view that is restricted to namespaces
  // (namespaced_view.h), one for each of them. A caller that demands each of these knows the state
  // of each.
  virtual std::vector<DemandSpec> Split(const DemandSpec& spec) const { return {spec}; }

  // `sink` may be null. A sink that joins an open watch gets the store's content as initial adds.
  [[nodiscard]] virtual std::unique_ptr<DemandHandle> Demand(DemandSpec spec,
                                                             std::shared_ptr<DemandSink> sink) = 0;

  virtual absl::StatusOr<std::shared_ptr<const RawObject>> GetRaw(const CallContext& context,
                                                                  const KindInfo& kind,
                                                                  const ObjectKey& key) const = 0;
  // Sorted by key; `ns` empty: all namespaces.
  virtual absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> ListRaw(
      const CallContext& context, const KindInfo& kind, std::string_view ns) const = 0;

  // As ListRaw(), but only the objects whose labels match. A demand with a selector counts, too, if
  // each of its requirements is also one of `selector`.
  virtual absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> ListRawSelected(
      const CallContext& context, const KindInfo& kind, std::string_view ns,
      const LabelSelector& selector) const = 0;

  // The objects of the last state that the watch delivered, also while the watch is down. Empty
  // before the first list, and while forbidden. Use it to find the objects that an event concerns;
  // decisions need ListRaw().
  virtual std::vector<std::shared_ptr<const RawObject>> ListLastKnown(
      const KindInfo& kind, std::string_view ns) const = 0;

  // The same for one object; a demand for this object alone counts, too. Null: the object was
  // absent, or its state is unknown.
  virtual std::shared_ptr<const RawObject> GetLastKnown(const KindInfo& kind,
                                                        const ObjectKey& key) const = 0;

  // Declares an index of the kind for the component. kFailedPrecondition: the component has already
  // demanded the kind. kAlreadyExists: it has an index of that name.
  virtual absl::Status IndexField(const KindInfo& kind, std::string_view field,
                                  IndexFunc extract) = 0;

  // As ListRaw(), but only the objects whose field has the value. The time is that of listing
  // these, plus the extraction for objects that changed since the last such call. An object whose
  // values cannot be extracted is listed for every value, because it may have it. kInvalidArgument:
  // the component has not declared the index.
  virtual absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> ListRawByIndex(
      const CallContext& context, const KindInfo& kind, const IndexQuery& query) const = 0;

  // As ListLastKnown(), with the same choice of objects. Without a declared index: all objects.
  virtual std::vector<std::shared_ptr<const RawObject>> ListLastKnownByIndex(
      const KindInfo& kind, const IndexQuery& query) const = 0;

  // `values` maps a const T& to the strings of the index.
  template <Readable T, class Values>
  absl::Status IndexField(std::string_view field, Values values) {
    return IndexField(KindOf<T>::value, field, IndexBy<T>(std::move(values)));
  }

  // kResourceExhausted if a read may not return so many bytes at once: decoded copies take more
  // memory than the cache, which holds large objects compressed. Asked for the bytes that the
  // server sent, and for those that large lists take in memory.
  virtual absl::Status CheckListSize(const KindInfo& kind, size_t objects, size_t bytes) const {
    static_cast<void>(kind), static_cast<void>(objects), static_cast<void>(bytes);
    return absl::OkStatus();
  }

  // Decoded copies. An object that T cannot hold is an error that names it, as in the other typed
  // reads. Lists are kResourceExhausted if CheckListSize() says so.
  template <Readable T>
  absl::StatusOr<T> Get(const CallContext& context, const ObjectKey& key) const {
    auto raw = GetRaw(context, KindOf<T>::value, key);
    if (!raw.ok()) return std::move(raw).status();
    return Decode<T>(**raw);
  }
  template <Readable T>
  absl::StatusOr<std::vector<T>> List(const CallContext& context, std::string_view ns = "") const {
    return DecodeAll<T>(ListRaw(context, KindOf<T>::value, ns));
  }
  template <Readable T>
  absl::StatusOr<std::vector<T>> List(const CallContext& context, std::string_view ns,
                                      const LabelSelector& selector) const {
    return DecodeAll<T>(ListRawSelected(context, KindOf<T>::value, ns, selector));
  }
  template <Readable T>
  absl::StatusOr<std::vector<T>> ListByIndex(const CallContext& context,
                                             const IndexQuery& query) const {
    return DecodeAll<T>(ListRawByIndex(context, KindOf<T>::value, query));
  }

 protected:
  // kFailedPrecondition if a task of `loop` makes the call with a context that may wait, whether or
  // not the call would wait this time: the loop would wait for itself. Names the call, what is
  // read, and NonBlockingContext().
  static absl::Status CheckMayWait(const Loop& loop, const CallContext& context,
                                   std::string_view call, const DemandSpec& asked);

 private:
  // `why` with the name of the object, which its type cannot hold.
  static absl::Status CannotDecode(const KindInfo& kind, const RawObject& object,
                                   const absl::Status& why);

  template <Readable T>
  static absl::StatusOr<T> Decode(const RawObject& object) {
    auto decoded = object.Decode<T>();
    if (!decoded.ok()) return CannotDecode(KindOf<T>::value, object, decoded.status());
    return decoded;
  }

  template <Readable T>
  absl::StatusOr<std::vector<T>> DecodeAll(
      absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> raw) const {
    if (!raw.ok()) return std::move(raw).status();
    size_t bytes = 0;
    for (const auto& object : *raw) bytes += object->size();
    absl::Status fits = CheckListSize(KindOf<T>::value, raw->size(), bytes);
    if (!fits.ok()) return fits;
    size_t memory = 0;
    std::vector<T> result;
    result.reserve(raw->size());
    for (const auto& object : *raw) {
      auto decoded = Decode<T>(*object);
      if (!decoded.ok()) return std::move(decoded).status();
      if (bytes > kMeasuredAbove) {
        memory += MemoryOf(*decoded);
        fits = CheckListSize(KindOf<T>::value, raw->size(), memory);
        if (!fits.ok()) return fits;
      }
      result.push_back(*std::move(decoded));
    }
    return result;
  }

  // An empty message has two bytes, and may take 60 times as much in memory. Lists that were
  // smaller than this are not worth a measurement.
  static constexpr size_t kMeasuredAbove = size_t{1} << 20;
  template <Readable T>
  static size_t MemoryOf(const T& object) {
    if constexpr (KindOf<T>::value.metadata_only) {
      return object.message().SpaceUsedLong();
    } else {
      return object.SpaceUsedLong();
    }
  }
};

}  // namespace mandate
