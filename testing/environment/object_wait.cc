#include "testing/environment/object_wait.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

// What a watch reports, in order. Thread-safe, except Arm().
class Changes : public DemandSink {
 public:
  struct Change {
    std::shared_ptr<const RawObject> object;  // null: all objects are known
    bool deleted = false;
  };

  void OnEvent(const ObjectEvent& event) override {
    Add({event.object, event.type == ObjectEvent::Type::kDelete});
  }
  void OnState(const DemandStatus& status) override {
    {
      MutexLock lock(mutex_);
      status_ = status;
    }
    if (status.state == DemandState::kSynced) Add({});
  }

  // Ends Next() at this time. On the loop, as the destructor.
  void Arm(Loop& loop, absl::Time end, std::weak_ptr<Changes> self) {
    timer_ = loop.RunAt(end, [self = std::move(self)] {
      const auto changes = self.lock();
      if (changes == nullptr) return;
      MutexLock lock(changes->mutex_);
      changes->ended_ = true;
      changes->changed_.NotifyAll();
    });
  }

  // Waits for the next change; nullopt at the end.
  std::optional<Change> Next() {
    MutexLock lock(mutex_);
    while (changes_.empty() && !ended_) changed_.Wait(mutex_);
    if (changes_.empty()) return std::nullopt;
    Change next = std::move(changes_.front());
    changes_.pop_front();
    return next;
  }
  // Why nothing is known about the objects.
  std::string Reason() const {
    MutexLock lock(mutex_);
    return StrCat(ToString(status_.state), ": ", AsStd(status_.reason.message()));
  }

 private:
  void Add(Change change) {
    MutexLock lock(mutex_);
    changes_.push_back(std::move(change));
    changed_.NotifyAll();
  }

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<Change> changes_ ABSL_GUARDED_BY(mutex_);
  DemandStatus status_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<Loop::Timer> timer_;
};

absl::StatusOr<std::string> JsonOf(const RawObject& object, const ObjectWait& wait) {
  if (wait.type == nullptr) return object.bytes();
  const std::unique_ptr<google::protobuf::Message> message(wait.type->New());
  RETURN_IF_ERROR(DecodeObject(object.bytes(), object.encoding(), *message));
  return ToJson(*message, &wait.kind);
}

std::string Print(const RawObject& object, const ObjectWait& wait) {
  const absl::StatusOr<std::string> text = JsonOf(object, wait);
  if (!text.ok())
    return StrCat("not a valid ", wait.kind.kind, ": ", AsStd(text.status().message()));
  absl::StatusOr<Json::Value> json = ParseJson(*text);
  if (!json.ok()) return *text;
  (*json)["metadata"].removeMember("managedFields");
  Json::StreamWriterBuilder writer;
  writer["indentation"] = "  ";
  return Json::writeString(writer, *json);
}

std::string Print(const RawObjects& objects, const ObjectWait& wait) {
  constexpr size_t kShown = 10;
  if (objects.empty()) return wait.key.name.empty() ? ": no object exists" : ": it is absent";
  std::string text = wait.key.name.empty() ? ". They are:" : ". It is:";
  size_t shown = 0;
  for (const auto& [key, object] : objects) {
    if (++shown > kShown) return StrCat(text, "\nand ", objects.size() - kShown, " more");
    StrAppend(&text, "\n", Print(*object, wait));
  }
  return text;
}

// "ConfigMap shop/a", "the ConfigMaps of namespace shop".
std::string NameOf(const ObjectWait& wait) {
  if (!wait.key.name.empty()) return StrCat(wait.kind.kind, " ", wait.key.ToString());
  if (wait.key.ns.empty()) return StrCat("all ", wait.kind.plural);
  return StrCat("the ", wait.kind.plural, " of namespace ", wait.key.ns);
}

}  // namespace

absl::Status AwaitObjects(Administrator& administrator, const ObjectWait& wait,
                          ObjectsCheck check) {
  Loop& loop = administrator.loop();
  auto changes = std::make_shared<Changes>();
  loop.Post([&loop, changes, end = loop.clock().TimeNow() + wait.patience] {
    changes->Arm(loop, end, changes);
  });
  auto demand = administrator.view().Demand({wait.kind, wait.key.ns, wait.key.name}, changes);
  RawObjects objects;
  bool known = false, found = false;
  while (!found) {
    const auto next = changes->Next();
    if (!next.has_value()) break;
    if (next->object == nullptr) {
      known = true;
    } else if (next->deleted) {
      objects.erase(next->object->Key());
    } else {
      objects[next->object->Key()] = next->object;
    }
    found = known && check(objects);
  }
  const std::string reason = changes->Reason();
  demand.reset();
  // Its timer is the loop's.
  loop.Post([changes = std::move(changes)] {});
  if (found) return absl::OkStatus();
  const std::string patience = absl::FormatDuration(wait.patience);
  if (!known) {
    return absl::DeadlineExceededError(
        StrCat(NameOf(wait), " could not be read within ", patience, ": ", reason));
  }
  return absl::DeadlineExceededError(
      StrCat(NameOf(wait), " ", wait.failure, " after ", patience, Print(objects, wait)));
}

}  // namespace mandate
