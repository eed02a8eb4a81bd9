#include "testing/apiserver/watch.h"

#include <algorithm>

#include "manager/core/strings.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/negotiation.h"
#include "testing/apiserver/object_io.h"

namespace mandate::apiserver {
namespace {

// The error comes from etcd.
constexpr char kForgotten[] = "The resourceVersion for the provided watch is too old.";

}  // namespace

void WatchStream::Start(Context context, std::shared_ptr<Exchange> exchange,
                        std::shared_ptr<const ResourceType> type, ListQuery query,
                        Encoding encoding) {
  auto stream =
      std::make_shared<WatchStream>(context, exchange, std::move(type), std::move(query), encoding);
  exchange->OnClosed([stream] { stream->Closed(); });
  exchange->Open({.code = 200,
                  .headers = {{"content-type", std::string(WatchMediaType(encoding))}},
                  .body = ""});
  stream->Begin();
}

void WatchStream::Begin() {
  const absl::Time now = context_.loop.clock().TimeNow();
  const int64_t wanted = query_.revision.value_or(0);
  if (query_.initial_events.value_or(false)) {
    if (wanted <= context_.store.revision()) return SendInitialState();
    bookmark_ =
        context_.loop.RunAt(now + context_.options.fresh_wait, [weak = weak_from_this(), wanted] {
          auto self = weak.lock();
          if (self == nullptr) return;
          if (wanted <= self->context_.store.revision()) return self->SendInitialState();
          self->Fail(TooLargeVersion(wanted, self->context_.store.revision()));
        });
    return;
  }
  if (wanted == 0 && !query_.initial_events) return SendInitialState();
  after_ = wanted == 0 ? context_.store.revision() : wanted;
  if (after_ < context_.store.compacted()) {
    if (uncached()) return Fail(ExpiredError(kForgotten));
    return Fail(ExpiredError(
        StrCat("too old resource version: ", after_, " (", context_.store.compacted(), ")")));
  }
  for (const Change* change : context_.store.ChangesSince(type_->name, after_)) OnChange(*change);
  Follow();
}

void WatchStream::SendInitialState() {
  after_ = context_.store.revision();
  for (const auto& object : context_.store.List(type_->name)) {
    if (query_.filter.Matches(*object)) {
      exchange_->Send(WriteEvent("ADDED", *object, *type_, encoding_));
    }
  }
  // A client that requested bookmarks gets one at the end of the initial state, even without
  // sendInitialEvents.
  if (query_.bookmarks) {
    exchange_->Send(WriteBookmark(after_, /*initial_events_end=*/true, *type_, encoding_));
  }
  Follow();
}

void WatchStream::Follow() {
  if (exchange_->closed()) return;
  const absl::Duration timeout = query_.timeout.value_or(context_.options.default_timeout);
  ends_ = context_.loop.clock().TimeNow() + timeout;
  timeout_ = context_.loop.RunAt(ends_, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->exchange_->End();
  });
  subscription_ =
      context_.store.Subscribe(type_->name, [this](const Change& change) { OnChange(change); });
  seen_ = std::max(seen_, after_);
  reconnect_ = context_.store.OnReconnect([this] { OnReconnect(); });
  if (query_.bookmarks) ScheduleBookmark();
}

void WatchStream::OnReconnect() {
  // The cache of a kind ends all its watches when its own position has been compacted.
  const bool lost =
      (uncached() ? seen_ : context_.store.LastChange(type_->name)) < context_.store.compacted();
  if (!lost || exchange_->closed()) return;
  uncached() ? Fail(ExpiredError(kForgotten)) : exchange_->End();
}

void WatchStream::OnChange(const Change& change) {
  if (change.revision <= after_ || exchange_->closed()) return;
  const bool was = change.previous != nullptr && query_.filter.Matches(*change.previous);
  const bool is = change.type != Change::Type::kDeleted && query_.filter.Matches(*change.object);
  if (was || is) seen_ = change.revision;
  if (is) {
    exchange_->Send(WriteEvent(was ? "MODIFIED" : "ADDED", *change.object, *type_, encoding_));
  } else if (was && change.type == Change::Type::kDeleted) {
    exchange_->Send(WriteEvent("DELETED", *change.object, *type_, encoding_));
  } else if (was) {
    // The object left the selection: DELETED has the previous object and the new version.
    exchange_->Send(WriteEvent("DELETED", *MakeStored(change.previous->Parse(), change.revision),
                               *type_, encoding_));
  }
}

void WatchStream::ScheduleBookmark() {
  // One more bookmark precedes the end, so that the next watch starts from there.
  constexpr absl::Duration kBeforeEnd = absl::Seconds(2);
  const absl::Time now = context_.loop.clock().TimeNow();
  absl::Time due = now + context_.options.bookmark_interval;
  if (ends_ - kBeforeEnd > now) due = std::min(due, ends_ - kBeforeEnd);
  bookmark_ = context_.loop.RunAt(due, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Bookmark();
  });
}

void WatchStream::Bookmark() {
  if (exchange_->closed()) return;
  // A watch from a version that the server has not reached, as after its restoration from a backup,
  // gets none until then.
  const bool reached = context_.store.revision() >= after_;
  if (reached && (!context_.options.lets_bookmark || context_.options.lets_bookmark())) {
    exchange_->Send(
        WriteBookmark(context_.store.revision(), /*initial_events_end=*/false, *type_, encoding_));
  }
  ScheduleBookmark();
}

void WatchStream::Fail(const absl::Status& error) {
  exchange_->Send(WriteErrorEvent(error, encoding_));
  exchange_->End();
}

void WatchStream::Closed() {
  context_.store.Unsubscribe(subscription_);
  context_.store.Unsubscribe(reconnect_);
  timeout_.reset();
  bookmark_.reset();
}

}  // namespace mandate::apiserver
