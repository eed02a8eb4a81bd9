#include "manager/cache/testing/fake_cache_view.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "manager/core/mutex.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using ObjectPtr = std::shared_ptr<const RawObject>;
using Content = std::map<ObjectKey, ObjectPtr>;

// One demand.
struct Demanded {
  bool Covers(const ObjectKey& key) const {
    return (spec.ns.empty() || spec.ns == key.ns) && (spec.name.empty() || spec.name == key.name);
  }

  const DemandSpec spec;
  const std::shared_ptr<DemandSink> sink;
  bool closed = false;
  bool paused = false;
  bool told = false;    // of some state
  bool synced = false;  // at least once
  DemandStatus status = {DemandState::kPending, absl::UnavailableError("not asked yet")};
  Content seen = {};
};

struct Kind {
  Content content;
  DemandStatus status = {DemandState::kSynced, absl::OkStatus()};
  std::map<std::string, IndexExtract, std::less<>> indexes;
};

// Keeps the objects whose field may have the value.
void Filter(const IndexExtract& extract, std::string_view value, std::vector<ObjectPtr>& objects) {
  std::erase_if(objects, [&](const ObjectPtr& object) {
    const auto values = extract(*object);
    return values.ok() && std::find(values->begin(), values->end(), value) == values->end();
  });
}

}  // namespace

// Handles and posted tasks share it.
struct FakeCacheView::Shared {
  mutable Mutex mutex;
  std::vector<std::shared_ptr<Demanded>> demands ABSL_GUARDED_BY(mutex);
  std::map<std::pair<std::string, std::string>, Kind> kinds ABSL_GUARDED_BY(mutex);
  std::vector<std::pair<DemandSpec, DemandStatus>> statuses ABSL_GUARDED_BY(mutex);
  int64_t version ABSL_GUARDED_BY(mutex) = 1000;
  std::function<void()> on_pause;  // set before the first demand

  Kind& Find(const KindInfo& kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return kinds[{std::string(kind.group), std::string(kind.plural)}];
  }

  DemandStatus StatusOf(const DemandSpec& spec) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    for (const auto& [of, status] : statuses) {
      if (of == spec) return status;
    }
    return Find(spec.kind).status;
  }

  // Whether a demand that covers this is live, or was live and may show its last known objects.
  bool IsKnown(const KindInfo& kind, const ObjectKey& scope) {
    MutexLock lock(mutex);
    return std::any_of(demands.begin(), demands.end(), [&](const auto& demanded) {
      return demanded->spec.kind == kind && demanded->Covers(scope) &&
             (demanded->status.state == DemandState::kSynced ||
              demanded->status.state == DemandState::kStale);
    });
  }

  std::vector<ObjectPtr> List(const KindInfo& kind, std::string_view ns) {
    MutexLock lock(mutex);
    std::vector<ObjectPtr> result;
    for (const auto& [key, object] : Find(kind).content) {
      if (ns.empty() || key.ns == ns) result.push_back(object);
    }
    return result;
  }

  // Null: absent.
  ObjectPtr Get(const KindInfo& kind, const ObjectKey& key) {
    MutexLock lock(mutex);
    const Content& content = Find(kind).content;
    const auto found = content.find(key);
    return found == content.end() ? nullptr : found->second;
  }

  // Null: not declared.
  IndexExtract Index(const KindInfo& kind, std::string_view field) {
    MutexLock lock(mutex);
    const auto& indexes = Find(kind).indexes;
    const auto found = indexes.find(field);
    return found == indexes.end() ? nullptr : found->second;
  }

  // Changes the kind, and brings each demand of it up to date.
  template <class Change>
  void Apply(const KindInfo& kind, Change change) {
    std::vector<std::shared_ptr<Demanded>> due;
    {
      MutexLock lock(mutex);
      change(Find(kind));
      for (const auto& demanded : demands) {
        // Demand()'s own task delivers first.
        if (demanded->told && demanded->spec.kind == kind) due.push_back(demanded);
      }
    }
    for (const auto& demanded : due) Deliver(demanded);
  }

  void Deliver(const std::shared_ptr<Demanded>& demanded);
};

class FakeCacheView::Handle : public DemandHandle {
 public:
  Handle(Loop& loop, std::shared_ptr<Shared> shared, std::shared_ptr<Demanded> demanded)
      : loop_(loop), shared_(std::move(shared)), demanded_(std::move(demanded)) {}
  ~Handle() override {
    MutexLock lock(shared_->mutex);
    demanded_->closed = true;
    std::erase(shared_->demands, demanded_);
  }
  DemandStatus status() const override {
    MutexLock lock(shared_->mutex);
    return demanded_->status;
  }
  void Pause() override {
    if (shared_->on_pause) shared_->on_pause();
    SetPaused(true);
  }
  void Resume() override { SetPaused(false); }

 private:
  void SetPaused(bool paused) {
    loop_.Post([shared = shared_, demanded = demanded_, paused] {
      {
        MutexLock lock(shared->mutex);
        demanded->paused = paused;
      }
      shared->Deliver(demanded);
    });
  }

  Loop& loop_;
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<Demanded> demanded_;
};

FakeCacheView::FakeCacheView(Loop& loop) : loop_(loop), shared_(std::make_shared<Shared>()) {}

std::shared_ptr<const RawObject> FakeCacheView::Encoded(const KindInfo& kind,
                                                        const google::protobuf::Message& object) {
  auto bytes = EncodeObject(object, kind, kind.encoding);
  auto raw = bytes.ok() ? ParseRawObject(*std::move(bytes), kind.encoding)
                        : absl::StatusOr<std::shared_ptr<const RawObject>>(bytes.status());
  if (!raw.ok()) {
    std::fprintf(stderr, "FakeCacheView::Put: no valid object: %s\n",
                 std::string(raw.status().message()).c_str());
    std::abort();
  }
  return *std::move(raw);
}

std::string FakeCacheView::NextVersion() {
  MutexLock lock(shared_->mutex);
  return StrCat(++shared_->version);
}

// Compares the objects that the demand has seen with the present ones. So it gets each change
// exactly once, however tests and tasks interleave.
void FakeCacheView::Shared::Deliver(const std::shared_ptr<Demanded>& demanded) {
  std::vector<ObjectEvent> events;
  bool say_state = false;
  DemandStatus status;
  {
    MutexLock lock(mutex);
    if (demanded->closed) return;
    status = StatusOf(demanded->spec);
    say_state = !status.IsLike(demanded->status);
    if (status.state == DemandState::kSynced && !demanded->paused) {
      Content now;
      for (const auto& [key, object] : Find(demanded->spec.kind).content) {
        if (demanded->Covers(key)) now.emplace(key, object);
      }
      for (const auto& [key, object] : demanded->seen) {
        if (!now.contains(key)) {
          events.push_back({.type = ObjectEvent::Type::kDelete, .object = object, .old = nullptr});
        }
      }
      for (const auto& [key, object] : now) {
        auto old = demanded->seen.find(key);
        if (old == demanded->seen.end()) {
          events.push_back({.type = ObjectEvent::Type::kAdd,
                            .object = object,
                            .old = nullptr,
                            .initial = !demanded->synced});
        } else if (old->second->resource_version() != object->resource_version()) {
          events.push_back(
              {.type = ObjectEvent::Type::kUpdate, .object = object, .old = old->second});
        }
      }
      demanded->seen = std::move(now);
      demanded->synced = true;
    }
    demanded->told = true;
    demanded->status = status;
  }
  if (demanded->sink == nullptr) return;
  for (const ObjectEvent& event : events) demanded->sink->OnEvent(event);
  if (say_state) demanded->sink->OnState(status);
}

void FakeCacheView::Put(const KindInfo& kind, ObjectPtr object) {
  shared_->Apply(kind, [&](Kind& of) { of.content[object->Key()] = object; });
}

void FakeCacheView::Remove(const KindInfo& kind, const ObjectKey& key) {
  shared_->Apply(kind, [&](Kind& of) { of.content.erase(key); });
}

void FakeCacheView::SetStatus(const KindInfo& kind, DemandStatus status) {
  shared_->Apply(kind, [&](Kind& of) { of.status = std::move(status); });
}

void FakeCacheView::SetState(const KindInfo& kind, DemandState state, absl::Status reason) {
  const bool failed = !reason.ok();
  SetStatus(kind, {state, std::move(reason), failed});
}

void FakeCacheView::SetState(const DemandSpec& spec, DemandState state, absl::Status reason) {
  {
    MutexLock lock(shared_->mutex);
    std::erase_if(shared_->statuses, [&](const auto& entry) { return entry.first == spec; });
    shared_->statuses.emplace_back(spec, DemandStatus{state, reason, !reason.ok()});
  }
  shared_->Apply(spec.kind, [](Kind&) {});
}

void FakeCacheView::OnPause(std::function<void()> hook) { shared_->on_pause = std::move(hook); }

std::vector<DemandSpec> FakeCacheView::demands() const {
  MutexLock lock(shared_->mutex);
  std::vector<DemandSpec> result;
  for (const auto& demanded : shared_->demands) result.push_back(demanded->spec);
  return result;
}

std::unique_ptr<DemandHandle> FakeCacheView::Demand(DemandSpec spec,
                                                    std::shared_ptr<DemandSink> sink) {
  auto demanded =
      std::make_shared<Demanded>(Demanded{.spec = std::move(spec), .sink = std::move(sink)});
  {
    MutexLock lock(shared_->mutex);
    shared_->demands.push_back(demanded);
  }
  loop_.Post([shared = shared_, demanded] { shared->Deliver(demanded); });
  return std::make_unique<Handle>(loop_, shared_, demanded);
}

absl::Status FakeCacheView::Check(const CallContext& context, std::string_view call,
                                  const DemandSpec& asked) const {
  RETURN_IF_ERROR(CheckMayWait(loop_, context, call, asked));
  if (!reads_need_demand_) return absl::OkStatus();
  MutexLock lock(shared_->mutex);
  absl::Status why = absl::FailedPreconditionError(StrCat("no demand covers ", asked.ToString()));
  for (const auto& demanded : shared_->demands) {
    const DemandStatus& status = demanded->status;
    if (demanded->spec.kind != asked.kind || !demanded->Covers({asked.ns, asked.name})) continue;
    if (status.state == DemandState::kSynced) return absl::OkStatus();
    const std::string text = StrCat(demanded->spec.ToString(), " is ", ToString(status.state), ": ",
                                    AsStd(status.reason.message()));
    why = status.state == DemandState::kForbidden ? absl::PermissionDeniedError(text)
                                                  : absl::UnavailableError(text);
  }
  return why;
}

absl::StatusOr<ObjectPtr> FakeCacheView::GetRaw(const CallContext& context, const KindInfo& kind,
                                                const ObjectKey& key) const {
  RETURN_IF_ERROR(Check(context, "GetRaw", {kind, key.ns, key.name}));
  ObjectPtr object = shared_->Get(kind, key);
  if (object != nullptr) return object;
  return absl::NotFoundError(StrCat(kind.plural, " \"", key.ToString(), "\" not found"));
}

absl::StatusOr<std::vector<ObjectPtr>> FakeCacheView::ListRaw(const CallContext& context,
                                                              const KindInfo& kind,
                                                              std::string_view ns) const {
  RETURN_IF_ERROR(Check(context, "ListRaw", {kind, std::string(ns), ""}));
  return shared_->List(kind, ns);
}

std::vector<ObjectPtr> FakeCacheView::ListLastKnown(const KindInfo& kind,
                                                    std::string_view ns) const {
  if (reads_need_demand_ && !shared_->IsKnown(kind, {std::string(ns), ""})) return {};
  return shared_->List(kind, ns);
}

ObjectPtr FakeCacheView::GetLastKnown(const KindInfo& kind, const ObjectKey& key) const {
  if (reads_need_demand_ && !shared_->IsKnown(kind, key)) return nullptr;
  return shared_->Get(kind, key);
}

absl::Status FakeCacheView::IndexField(const KindInfo& kind, std::string_view field,
                                       IndexExtract extract) {
  MutexLock lock(shared_->mutex);
  for (const auto& demanded : shared_->demands) {
    if (demanded->spec.kind == kind) {
      return absl::FailedPreconditionError(
          StrCat("index ", field, " of ", kind.plural, " comes too late: the kind is demanded"));
    }
  }
  if (shared_->Find(kind).indexes.emplace(field, std::move(extract)).second) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(StrCat("index ", field, " of ", kind.plural, " exists"));
}

absl::StatusOr<std::vector<ObjectPtr>> FakeCacheView::ListRawBy(const CallContext& context,
                                                                const KindInfo& kind,
                                                                const IndexQuery& query) const {
  const IndexExtract extract = shared_->Index(kind, query.field);
  if (extract == nullptr) {
    return absl::InvalidArgumentError(StrCat("no index ", query.field, " of ", kind.plural));
  }
  auto objects = ListRaw(context, kind, query.ns);
  if (objects.ok()) Filter(extract, query.value, *objects);
  return objects;
}

std::vector<ObjectPtr> FakeCacheView::ListLastKnownBy(const KindInfo& kind,
                                                      const IndexQuery& query) const {
  auto objects = ListLastKnown(kind, query.ns);
  const IndexExtract extract = shared_->Index(kind, query.field);
  if (extract != nullptr) Filter(extract, query.value, objects);
  return objects;
}

}  // namespace mandate
