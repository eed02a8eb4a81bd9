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

// The states of one object, in order. Thread-safe, except Arm().
class States : public DemandSink {
 public:
  using State = std::shared_ptr<const RawObject>;  // null: absent

  void OnEvent(const ObjectEvent& event) override {
    Add(event.type == ObjectEvent::Type::kDelete ? nullptr : event.object);
  }
  void OnState(const DemandStatus& status) override {
    MutexLock lock(mutex_);
    status_ = status;
    if (status.state != DemandState::kSynced || known_) return;
    known_ = true;
    states_.push_back(nullptr);
    changed_.NotifyAll();
  }

  // Ends Next() at this time. On the loop, as the destructor.
  void Arm(Loop& loop, absl::Time end, std::weak_ptr<States> self) {
    timer_ = loop.RunAt(end, [self = std::move(self)] {
      const auto states = self.lock();
      if (states == nullptr) return;
      MutexLock lock(states->mutex_);
      states->ended_ = true;
      states->changed_.NotifyAll();
    });
  }

  // Waits for the next state; nullopt at the end.
  std::optional<State> Next() {
    MutexLock lock(mutex_);
    while (states_.empty() && !ended_) changed_.Wait(mutex_);
    if (states_.empty()) return std::nullopt;
    State next = std::move(states_.front());
    states_.pop_front();
    return next;
  }
  // Why nothing is known about the object.
  std::string Reason() const {
    MutexLock lock(mutex_);
    return StrCat(ToString(status_.state), ": ", AsStd(status_.reason.message()));
  }

 private:
  void Add(State state) {
    MutexLock lock(mutex_);
    known_ = true;
    states_.push_back(std::move(state));
    changed_.NotifyAll();
  }

  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<State> states_ ABSL_GUARDED_BY(mutex_);
  DemandStatus status_ ABSL_GUARDED_BY(mutex_);
  bool known_ ABSL_GUARDED_BY(mutex_) = false;
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

}  // namespace

absl::Status AwaitObject(Administrator& administrator, const ObjectWait& wait, ObjectCheck check) {
  Loop& loop = administrator.loop();
  auto states = std::make_shared<States>();
  loop.Post([&loop, states, end = loop.clock().TimeNow() + wait.patience] {
    states->Arm(loop, end, states);
  });
  auto demand = administrator.view().Demand({wait.kind, wait.key.ns, wait.key.name}, states);
  std::optional<States::State> last;
  bool found = false;
  while (!found) {
    auto next = states->Next();
    if (!next.has_value()) break;
    last = std::move(next);
    found = check(last->get());
  }
  const std::string reason = states->Reason();
  demand.reset();
  // Its timer is the loop's.
  loop.Post([states = std::move(states)] {});
  if (found) return absl::OkStatus();
  const std::string what = StrCat(wait.kind.kind, " ", wait.key.ToString());
  if (!last.has_value()) {
    return absl::DeadlineExceededError(StrCat(what, " could not be read within ",
                                              absl::FormatDuration(wait.patience), ": ", reason));
  }
  return absl::DeadlineExceededError(
      StrCat(what, " ", wait.failure, " after ", absl::FormatDuration(wait.patience),
             *last == nullptr ? ": it is absent" : StrCat(". It is:\n", Print(**last, wait))));
}

}  // namespace mandate
