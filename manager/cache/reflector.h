// One list+watch that keeps a store like the server's content. The rules are client-go's
// (k8s.io/client-go/tools/cache/reflector.go, 1.36); the table notes the differences.
//
//   phase          on                              does                             then
//   ─────────────  ──────────────────────────────  ───────────────────────────────  ──────────────
//   StreamingList  bookmark initial-events-end     store := what came               Watching
//    (a watch with 429, refused, 401               wait                             StreamingList
//    initial       410, version too large          forget the version               StreamingList
//    events)       403                             Forbidden; wait (client-go: list) a new pass
//                  closed after some events, once  wait (client-go: at once)        StreamingList
//                  the same again                                                   Listing
//                  anything else; silence (client-go warns)                         Listing
//   Listing        the last page                   store := the list                Opening
//    (consistent,  403                             Forbidden; wait (ProbeBudget)  a new pass
//    in pages)     404                             KindAbsent; wait, slowly         a new pass
//                  anything else                   wait                             a new pass
//   Opening        accepted                        Synced                           Watching
//    (a watch from 429, refused, 401               wait                             Opening
//    the version)  403                             Forbidden; wait (ProbeBudget)  a new pass
//                  anything else, also 410         wait                             a new pass
//   Watching       ADDED, MODIFIED, DELETED        change the store                 Watching
//                  BOOKMARK                        move the version                 Watching
//                  closed, cut, overdue                                             Opening
//                  silence          of a server that sends bookmarks                a new pass
//                                   of another                                      Opening
//                  closed at once without events   wait                             a new pass
//                  closed within 1 s, 6 in a row   wait                             Opening
//                  ERROR 429                       wait                             Opening
//                  ERROR 410, any other; overflow  wait                             a new pass
//                  an invalid event                wait (as client-go)              a new pass
//                  an event of an unknown type     skip it                          Watching
//   any            more bytes than max_bytes       wait                             a new pass
//                  evicted by the WatchBudget      wait; the store is emptied       a new pass
//   Waiting        the time has come; a hint (403, 404, 401); the end of an outage  as said above
//   any            ReadAgain()                     forget the version               a new pass
//                  406, once                       ask for JSON from then on        the same again
//
// A pass begins with StreamingList, or Listing where that is switched off. All waits but those for
// 403, 404 and 410 share one backoff (client-go shares it with 410). client-go can also watch again
// after an InternalError in a stream, if an option requests it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "manager/cache/cache_metrics.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/initial_state.h"
#include "manager/cache/list_pager.h"
#include "manager/cache/loop_timer.h"
#include "manager/cache/probe_budget.h"
#include "manager/cache/reflector_backoff.h"
#include "manager/cache/reflector_options.h"
#include "manager/cache/reflector_target.h"
#include "manager/cache/watch_budget.h"
#include "manager/cache/watch_closer.h"
#include "manager/cache/watch_stream.h"
#include "manager/client/rest_client.h"
#include "manager/core/log.h"

namespace mandate {

// Loop thread only.
class Reflector : private WatchStream::Observer {
 public:
  struct Failure {
    absl::Duration wait;  // until the next try, or until the owner should consider another client
    // The server does not answer or throttles the client, or the client's budget is used up.
    // Another client may succeed, and should not wait for this one.
    bool is_long = false;
    // A request is in flight and had no data for ReflectorOptions::response_timeout, or an open
    // watch had none for max_watch_silence.
    bool is_silence = false;
    // There was no answer of a server, not even an error.
    bool is_outage = false;
  };

  // The owner must not destroy the reflector inside a call, and may call its functions.
  class Owner {
   public:
    virtual ~Owner() = default;
    // The store has these changes.
    virtual void OnObjects(const std::vector<ObjectEvent>& events) = 0;
    // The store has more changes than Config::most_events; `before` is its former content.
    virtual void OnReplaced(const std::shared_ptr<const ObjectSet>& before) = 0;
    // The store's resource version has moved.
    virtual void OnProgress() = 0;
    // The server has just accepted a watch of the current client. Called after the OnStatus() for
    // it.
    virtual void OnAccess() = 0;
    // Called at each change. kForbidden is about the current client.
    virtual void OnStatus(const DemandStatus& status) = 0;
    // After the OnStatus() of it: the current client has failed to list or watch, and waits. Or it
    // has received nothing for ReflectorOptions::response_timeout; called again for each such
    // period.
    virtual void OnFailure(const Failure& failure) = 0;
    // The server has gone back to an earlier version (ReflectorTarget::Replaced::is_restored): what
    // other watches know is of another history. Not called if ReadAgain() has said so before.
    virtual void OnRestored() = 0;
    // After the OnFailure() of it: the watch has ended to make room in WatchBudget, and no client
    // takes over. The store must be emptied, and OnPurged() called.
    virtual void OnEvicted() = 0;
  };

  struct Config {
    DemandSpec spec;
    ReflectorOptions options;
    std::mt19937_64& random;
    Metrics& metrics;
    WatchBudget& budget;  // outlives the reflector
    ProbeBudget& probes;  // outlives the reflector
    // DemandSink::Flows(): a probe waits for the first turn of any of these, and they are the
    // tenants of the WatchBudget.
    std::function<std::set<std::string>()> flows;
    // Whether this component knows that the namespace does not exist: then it is not asked for
    // denied access. Null: it is never known.
    std::function<bool(std::string_view component)> namespace_is_gone = nullptr;
    WatchCloser& closer;  // gets the open watch at the end; outlives the reflector
    Logger log;
    size_t most_events = 256;  // of one OnObjects()
  };

  // All but `config` outlive this; of the store's watch only this writes to it.
  Reflector(Config config, RestClient& client, ReflectorTarget& store, Owner& owner);
  ~Reflector() override;

  // The store is empty.
  void Start();
  // The store is complete, as of this version. Until the watch is open, the state is kStale.
  void StartFrom(std::string version);
  // Continues under another identity, from the present version.
  void UseClient(RestClient& client);
  // The same, after the server has denied this identity: as if it had answered 403 just now.
  void UseDeniedClient(RestClient& client, const absl::Status& why) {
    SwitchTo(client);
    Forbid(why);
  }
  // The current client has lost its access. Acts as if the server had answered 403.
  void Forbid(const absl::Status& why);
  // The cause of an error may be gone: a reflector that waits because of 401, 403 or 404 tries
  // again.
  void RetryNow();
  // The server has answered another watch after an outage: one that waits because it had no answer
  // tries again soon.
  void OnOutageEnd();
  // The server's versions may be of another history than the store's: the state is read again, and
  // may be older.
  void ReadAgain();
  // Config::flows has these, too.
  void AddFlows(const ProbeBudget::Flows& flows) {
    if (probe_ != nullptr) probe_->Join(flows);
  }

  // The store was emptied: the next pass begins without a version. Only while the status is
  // kForbidden, and in OnEvicted().
  void OnPurged();

  const DemandStatus& status() const { return status_; }
  // Whether the store was ever complete, since the last OnPurged().
  bool filled() const { return filled_; }
  RestClient& client() const { return *client_; }
  // When the list or watch that is under way, or that was the last one, was sent.
  absl::Time last_attempt() const { return last_attempt_; }
  // False: the watch has ended to make room, and this client's component has no room for it.
  bool FitsIn(const RestClient& client) const {
    return !account_.exceeded() || account_.FitsIn(client.component());
  }

 private:
  enum class Phase { kIdle, kStreamingList, kListing, kOpening, kWatching, kWaiting };
  enum class Next { kPass, kList, kWatch };

  void OnWatchOpen() override;
  void OnWatchEvent(WatchEvent event) override;
  void OnWatchTurn() override;
  void OnWatchEnd(const WatchStream::End& end) override;

  void StartPass();
  void StartStreamingList();
  void StartList();
  void StartWatch();
  void OpenWatch(const WatchQuery& query);
  void OnList(absl::StatusOr<ListPager::Result> result);
  void OnInitialEvent(WatchEvent event);
  void OnInitialEventsEnd(std::string resource_version);
  void OnStreamingListFailed(const absl::Status& why);
  void OnWatchError(const absl::Status& error);
  // Counts the watch in the WatchBudget until Stop() or WaitFor(). False: it has no room, and ends
  // soon.
  bool EnterBudget();
  // The same before a request; but a denied one counts only when the server has accepted it.
  bool MayStart();
  // OK while this many bytes may be held, in the store or in its next content.
  absl::Status Admit(size_t bytes);
  void OnTooManyBytes(const absl::Status& why);
  // By the WatchBudget.
  void OnEvicted(const absl::Status& why);
  // If the watch waits because of the WatchBudget, and only tenants demand it.
  void MakeRoom();
  void OnWatchClosed(const WatchStream::End& end);

  void SwitchTo(RestClient& client);
  // Waits for the delay that belongs to `why`, then does `next`. `is_answered`: the server works,
  // and what it sent cannot be used.
  void Fail(const absl::Status& why, Next next, bool is_answered = false);
  bool IsLong(const absl::Status& why) const;
  void WaitFor(absl::Duration delay, Next next, bool hinted = false);
  // Does `next` as soon as the budget has a place for it.
  void Begin(Next next);
  // The probe may run: does what it has waited for.
  void GoOn();
  void DoNext();
  // Does `next` in the place of the request before it; without one, as Begin().
  void Continue(Next next);
  // Stop(), but the place stays.
  void StopInPlace();
  // The server has answered.
  void ReturnPlace();
  // Ends all requests and timers.
  void Stop();
  void SetStatus(DemandState state, absl::Status reason, bool failed = false);
  // `verb`, a literal, is under way: reports it whenever nothing comes for
  // ReflectorOptions::response_timeout.
  void AwaitAnswer(std::string_view verb);
  // Data has arrived, and more is expected.
  void NoteProgress();
  void OnNoResponse();
  // The watch is open. Starts a new pass if it has no data for max_watch_silence.
  void AwaitEvents();
  void OnQuietWatch();
  void Replace(ReflectorTarget::Content content, std::string resource_version);
  // An event of a running watch is in the store, with these changes.
  void OnApplied(WatchEventType type, std::string resource_version,
                 const std::vector<ObjectEvent>& changes);
  void MoveTo(std::string resource_version);

  const DemandSpec spec_;
  const ReflectorOptions options_;
  const size_t most_events_;
  Encoding encoding_;  // to ask for
  std::mt19937_64& random_;
  Metrics& metrics_;
  const Logger log_;
  ReflectorTarget& store_;
  Owner& owner_;
  RestClient* client_;
  Loop& loop_;
  std::unique_ptr<WatchMetrics> counts_;
  ProbeBudget& probes_;
  const std::function<std::set<std::string>()> flows_;
  WatchBudget::Account account_;
  const std::function<bool(std::string_view component)> namespace_is_gone_;
  WatchCloser& closer_;
  const std::string pool_;                      // of the ProbeBudget
  std::unique_ptr<ProbeBudget::Ticket> probe_;  // kWaiting for the budget
  // Until the server answers. A denial may take it long, and then many at once would take all its
  // time.
  std::unique_ptr<ProbeBudget::Ticket> place_;

  Phase phase_ = Phase::kIdle;
  Next next_ = Next::kPass;  // kWaiting
  DemandStatus status_;
  bool filled_ = false;
  std::string version_;                                // up to which the store is known
  bool version_unavailable_ = false;                   // the server no longer has it
  bool reads_again_ = false;                           // ReadAgain()
  absl::Time waits_until_ = absl::InfinitePast();      // kWaiting
  bool waits_for_answer_ = false;                      // kWaiting: the last request had none
  absl::Time outage_ended_at_ = absl::InfinitePast();  // the last OnOutageEnd() that had an effect
  int streaming_cuts_ = 0;                             // in a row
  bool versions_ordered_ = true;                       // of the events of this watch
  bool bookmarks_seen_ = false;                        // the server sends them

  std::unique_ptr<ListPager> pager_;
  std::unique_ptr<WatchStream> stream_;
  std::unique_ptr<InitialState> initial_;  // kStreamingList: the objects so far
  LoopTimer timer_;                        // kWaiting
  LoopTimer evict_timer_;                  // until the watch ends for WatchBudget
  LoopTimer response_timer_;               // until data arrives
  ReflectorBackoff backoff_;
  absl::Time last_attempt_ = absl::InfinitePast();
  absl::Time last_progress_ = absl::InfinitePast();
  std::string_view awaited_;  // the verb
  bool hinted_ = false;       // during an attempt that may have been too early
  int short_watches_ = 0;
  int uncounted_events_ = 0;
};

}  // namespace mandate
