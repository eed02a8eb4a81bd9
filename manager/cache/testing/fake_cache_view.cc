#include "manager/cache/testing/fake_cache_view.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {

struct FakeCacheView::Record {
  DemandSpec spec;
  std::shared_ptr<DemandSink> sink;
  bool closed = false;
  bool paused = false;
  bool told = false;    // of some state
  bool synced = false;  // at least once
  DemandStatus status;
  Content seen;

  bool Covers(const ObjectKey& key) const {
    return (spec.ns.empty() || spec.ns == key.ns) && (spec.name.empty() || spec.name == key.name);
  }
};

// Outlived by nothing that uses it: handles and posted tasks share it.
struct FakeCacheView::Shared {
  mutable Mutex mutex;
  std::vector<std::shared_ptr<Record>> records ABSL_GUARDED_BY(mutex);
  std::map<KindKey, Content> content ABSL_GUARDED_BY(mutex);
  std::map<KindKey, DemandStatus> kind_status ABSL_GUARDED_BY(mutex);
  std::vector<std::pair<DemandSpec, DemandStatus>> spec_status ABSL_GUARDED_BY(mutex);
  std::map<std::pair<KindKey, std::string>, IndexExtract> indexes ABSL_GUARDED_BY(mutex);
  int64_t version ABSL_GUARDED_BY(mutex) = 1000;

  DemandStatus StatusOf(const DemandSpec& spec) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    for (const auto& [of, status] : spec_status) {
      if (of == spec) return status;
    }
    auto it = kind_status.find(KeyOfKind(spec.kind));
    return it == kind_status.end() ? DemandStatus{DemandState::kSynced, absl::OkStatus()}
                                   : it->second;
  }

  // Whether a demand that covers this is live, or was and may show what it saw.
  bool IsKnown(const KindInfo& kind, const ObjectKey& scope) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return std::any_of(records.begin(), records.end(), [&](const auto& record) {
      return record->spec.kind == kind && record->Covers(scope) &&
             (record->status.state == DemandState::kSynced ||
              record->status.state == DemandState::kStale);
    });
  }

  void Deliver(const std::shared_ptr<Record>& record);
};

class FakeCacheView::Handle : public DemandHandle {
 public:
  Handle(Loop& loop, std::shared_ptr<Shared> shared, std::shared_ptr<Record> record)
      : loop_(loop), shared_(std::move(shared)), record_(std::move(record)) {}
  ~Handle() override {
    MutexLock lock(shared_->mutex);
    record_->closed = true;
    std::erase(shared_->records, record_);
  }
  DemandStatus status() const override {
    MutexLock lock(shared_->mutex);
    return record_->status;
  }
  void Pause() override { SetPaused(true); }
  void Resume() override { SetPaused(false); }

 private:
  void SetPaused(bool paused) {
    loop_.Post([shared = shared_, record = record_, paused] {
      {
        MutexLock lock(shared->mutex);
        record->paused = paused;
      }
      shared->Deliver(record);
    });
  }

  Loop& loop_;
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<Record> record_;
};

FakeCacheView::FakeCacheView(Loop& loop) : loop_(loop), shared_(std::make_shared<Shared>()) {}

FakeCacheView::KindKey FakeCacheView::KeyOfKind(const KindInfo& kind) {
  return {std::string(kind.group), std::string(kind.plural)};
}

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

// Compares what the demand has seen with what there is: it then misses nothing and hears nothing
// twice, however tests and tasks interleave.
void FakeCacheView::Shared::Deliver(const std::shared_ptr<Record>& record) {
  std::vector<ObjectEvent> events;
  bool say_state = false;
  DemandStatus status;
  {
    MutexLock lock(mutex);
    if (record->closed) return;
    status = StatusOf(record->spec);
    say_state = !status.IsLike(record->status);
    if (status.state == DemandState::kSynced && !record->paused) {
      const Content& all = content[KeyOfKind(record->spec.kind)];
      Content now;
      for (const auto& [key, object] : all) {
        if (record->Covers(key)) now.emplace(key, object);
      }
      for (const auto& [key, object] : record->seen) {
        if (!now.contains(key)) {
          events.push_back({.type = ObjectEvent::Type::kDelete, .object = object, .old = nullptr});
        }
      }
      for (const auto& [key, object] : now) {
        auto old = record->seen.find(key);
        if (old == record->seen.end()) {
          events.push_back({.type = ObjectEvent::Type::kAdd,
                            .object = object,
                            .old = nullptr,
                            .initial = !record->synced});
        } else if (old->second->resource_version() != object->resource_version()) {
          events.push_back(
              {.type = ObjectEvent::Type::kUpdate, .object = object, .old = old->second});
        }
      }
      record->seen = std::move(now);
      record->synced = true;
    }
    record->told = true;
    record->status = status;
  }
  if (record->sink == nullptr) return;
  for (const ObjectEvent& event : events) record->sink->OnEvent(event);
  if (say_state) record->sink->OnState(status);
}

void FakeCacheView::Deliver(const KindInfo& kind) {
  std::vector<std::shared_ptr<Record>> records;
  {
    MutexLock lock(shared_->mutex);
    for (const auto& record : shared_->records) {
      // One that has not been told anything yet will be, by Demand()'s own task.
      if (record->told && record->spec.kind == kind) records.push_back(record);
    }
  }
  for (const auto& record : records) shared_->Deliver(record);
}

void FakeCacheView::Put(const KindInfo& kind, std::shared_ptr<const RawObject> object) {
  {
    MutexLock lock(shared_->mutex);
    shared_->content[KeyOfKind(kind)][object->Key()] = object;
  }
  Deliver(kind);
}

void FakeCacheView::Remove(const KindInfo& kind, const ObjectKey& key) {
  {
    MutexLock lock(shared_->mutex);
    shared_->content[KeyOfKind(kind)].erase(key);
  }
  Deliver(kind);
}

void FakeCacheView::SetStatus(const KindInfo& kind, DemandStatus status) {
  {
    MutexLock lock(shared_->mutex);
    shared_->kind_status[KeyOfKind(kind)] = std::move(status);
  }
  Deliver(kind);
}

void FakeCacheView::SetState(const KindInfo& kind, DemandState state, absl::Status reason) {
  const bool failed = !reason.ok();
  SetStatus(kind, {state, std::move(reason), failed});
}

void FakeCacheView::SetState(const DemandSpec& spec, DemandState state, absl::Status reason) {
  {
    MutexLock lock(shared_->mutex);
    std::erase_if(shared_->spec_status, [&](const auto& entry) { return entry.first == spec; });
    shared_->spec_status.emplace_back(spec, DemandStatus{state, reason, !reason.ok()});
  }
  Deliver(spec.kind);
}

std::vector<DemandSpec> FakeCacheView::demands() const {
  MutexLock lock(shared_->mutex);
  std::vector<DemandSpec> result;
  for (const auto& record : shared_->records) result.push_back(record->spec);
  return result;
}

std::unique_ptr<DemandHandle> FakeCacheView::Demand(DemandSpec spec,
                                                    std::shared_ptr<DemandSink> sink) {
  auto record = std::make_shared<Record>();
  record->spec = std::move(spec);
  record->sink = std::move(sink);
  {
    MutexLock lock(shared_->mutex);
    record->status = {DemandState::kPending, absl::UnavailableError("not asked yet")};
    shared_->records.push_back(record);
  }
  loop_.Post([shared = shared_, record] { shared->Deliver(record); });
  return std::make_unique<Handle>(loop_, shared_, record);
}

absl::Status FakeCacheView::Readable(const KindInfo& kind, const ObjectKey& key) const {
  if (!reads_need_demand_) return absl::OkStatus();
  MutexLock lock(shared_->mutex);
  absl::Status why = absl::FailedPreconditionError(
      StrCat("no demand covers ", DemandSpec{kind, key.ns, key.name}.ToString()));
  for (const auto& record : shared_->records) {
    const DemandSpec& spec = record->spec;
    if (spec.kind != kind || (!spec.ns.empty() && spec.ns != key.ns) ||
        (!spec.name.empty() && spec.name != key.name)) {
      continue;
    }
    if (record->status.state == DemandState::kSynced) return absl::OkStatus();
    const std::string text = StrCat(spec.ToString(), " is ", ToString(record->status.state), ": ",
                                    AsStd(record->status.reason.message()));
    why = record->status.state == DemandState::kForbidden ? absl::PermissionDeniedError(text)
                                                          : absl::UnavailableError(text);
  }
  return why;
}

absl::StatusOr<std::shared_ptr<const RawObject>> FakeCacheView::GetRaw(const CallContext& context,
                                                                       const KindInfo& kind,
                                                                       const ObjectKey& key) const {
  RETURN_IF_ERROR(CheckMayWait(loop_, context, "GetRaw", {kind, key.ns, key.name}));
  if (absl::Status status = Readable(kind, key); !status.ok()) return status;
  MutexLock lock(shared_->mutex);
  const Content& content = shared_->content[KeyOfKind(kind)];
  auto it = content.find(key);
  if (it == content.end()) {
    return absl::NotFoundError(StrCat(kind.plural, " \"", key.ToString(), "\" not found"));
  }
  return it->second;
}

absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> FakeCacheView::ListRaw(
    const CallContext& context, const KindInfo& kind, std::string_view ns) const {
  RETURN_IF_ERROR(CheckMayWait(loop_, context, "ListRaw", {kind, std::string(ns), ""}));
  if (absl::Status status = Readable(kind, {std::string(ns), ""}); !status.ok()) return status;
  MutexLock lock(shared_->mutex);
  std::vector<std::shared_ptr<const RawObject>> result;
  for (const auto& [key, object] : shared_->content[KeyOfKind(kind)]) {
    if (ns.empty() || key.ns == ns) result.push_back(object);
  }
  return result;
}

std::vector<std::shared_ptr<const RawObject>> FakeCacheView::ListLastKnown(
    const KindInfo& kind, std::string_view ns) const {
  std::vector<std::shared_ptr<const RawObject>> result;
  MutexLock lock(shared_->mutex);
  if (reads_need_demand_ && !shared_->IsKnown(kind, {std::string(ns), ""})) return result;
  for (const auto& [key, object] : shared_->content[KeyOfKind(kind)]) {
    if (ns.empty() || key.ns == ns) result.push_back(object);
  }
  return result;
}

std::shared_ptr<const RawObject> FakeCacheView::GetLastKnown(const KindInfo& kind,
                                                             const ObjectKey& key) const {
  MutexLock lock(shared_->mutex);
  if (reads_need_demand_ && !shared_->IsKnown(kind, key)) return nullptr;
  const Content& content = shared_->content[KeyOfKind(kind)];
  const auto found = content.find(key);
  return found == content.end() ? nullptr : found->second;
}

absl::Status FakeCacheView::IndexField(const KindInfo& kind, std::string_view field,
                                       IndexExtract extract) {
  MutexLock lock(shared_->mutex);
  for (const auto& record : shared_->records) {
    if (record->spec.kind == kind) {
      return absl::FailedPreconditionError(
          StrCat("index ", field, " of ", kind.plural, " comes too late: the kind is demanded"));
    }
  }
  const bool added =
      shared_->indexes.try_emplace({KeyOfKind(kind), std::string(field)}, std::move(extract))
          .second;
  if (added) return absl::OkStatus();
  return absl::AlreadyExistsError(StrCat("index ", field, " of ", kind.plural, " exists"));
}

IndexExtract FakeCacheView::FindIndex(const KindInfo& kind, std::string_view field) const {
  MutexLock lock(shared_->mutex);
  const auto it = shared_->indexes.find({KeyOfKind(kind), std::string(field)});
  return it == shared_->indexes.end() ? nullptr : it->second;
}

namespace {

bool MayHave(const RawObject& object, const IndexExtract& extract, std::string_view value) {
  const auto values = extract(object);
  return !values.ok() || std::find(values->begin(), values->end(), value) != values->end();
}

}  // namespace

absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> FakeCacheView::ListRawBy(
    const CallContext& context, const KindInfo& kind, const IndexQuery& query) const {
  const IndexExtract extract = FindIndex(kind, query.field);
  if (extract == nullptr) {
    return absl::InvalidArgumentError(StrCat("no index ", query.field, " of ", kind.plural));
  }
  auto objects = ListRaw(context, kind, query.ns);
  if (!objects.ok()) return objects;
  std::erase_if(*objects,
                [&](const auto& object) { return !MayHave(*object, extract, query.value); });
  return objects;
}

std::vector<std::shared_ptr<const RawObject>> FakeCacheView::ListLastKnownBy(
    const KindInfo& kind, const IndexQuery& query) const {
  auto objects = ListLastKnown(kind, query.ns);
  const IndexExtract extract = FindIndex(kind, query.field);
  if (extract == nullptr) return objects;
  std::erase_if(objects,
                [&](const auto& object) { return !MayHave(*object, extract, query.value); });
  return objects;
}

}  // namespace mandate
