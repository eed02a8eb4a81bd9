// The webhooks of one component: its handlers run on its own threads, within its own bounds, so
// that one component's slow or hostile reviews take nothing from another's.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/admission/webhook.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/core/mutex.h"
#include "manager/serving/http_server.h"

namespace mandate {

class ReviewDeadlines;
class ReviewQueue;

struct WebhookLimits {
  // Reviews of a component that are being answered or whose body is being read. A further one is
  // answered with HTTP 429, and the failurePolicy of its configuration decides.
  size_t max_in_flight = 200;
  // The same for the bytes of their bodies.
  size_t max_bytes_in_flight = size_t{64} << 20;
  // How many handlers of a component run at once; further reviews wait for one of them, and their
  // users take turns (review_queue.h).
  int threads = 8;
  // A larger body is a 413.
  size_t max_body_bytes = size_t{7} << 20;
  // The user of a review: the name, uid, groups and extra together, as JSON. A larger one is a 413,
  // before the user is decoded, because a handler may send it in every access review.
  size_t max_user_info_bytes = kMaxUserInfoBytes;
  // The timeout of a review whose request has no parameter `timeout`. Otherwise the API server's
  // timeout is used. In both cases the handler gets a tenth less, but at most half a second less,
  // so that the response arrives in time.
  absl::Duration default_timeout = absl::Seconds(10);
};

// Thread-safe. Outlives the HTTP server that has its routes.
class ComponentWebhooks {
 public:
  struct Options {
    std::string component;
    Webhooks webhooks;
    WebhookLimits bounds = {};
    Executor& workers;  // the handlers run here
    Loop& loop;         // its clock and timers
    Metrics& metrics;   // all outlive this
    Logger log = {};
  };

  explicit ComponentWebhooks(Options options);
  ~ComponentWebhooks();

  // One route for each webhook, by path.
  std::map<std::string, PostRoute> Routes();

  // OK, or the reason why the handlers cannot answer yet, because a demand is not synced. Reviews
  // are then answered with HTTP 503, except conversions, which the demands may wait for.
  absl::Status Ready() const;
  // OK when each demand is synced or has failed, so that waiting longer makes no review succeed;
  // else the first one that is still being asked for.
  absl::Status DemandsSettled() const;
  // Waits until no handler runs, after the server of its routes has ended. kDeadlineExceeded if one
  // still runs at `deadline`: the process must then end with it. Not on the loop.
  absl::Status Stop(absl::Time deadline);
  // Reviews that are in flight, also those whose client is gone.
  size_t in_flight() const;
  int threads() const { return options_->bounds.threads; }

 private:
  struct Entry;
  class Review;
  class Load;

  std::variant<std::shared_ptr<void>, ServedResponse> Admit(bool converts, size_t bytes);

  const std::shared_ptr<const Options> options_;
  const std::shared_ptr<Load> load_;
  const std::shared_ptr<ReviewQueue> queue_;
  const std::shared_ptr<ReviewDeadlines> deadlines_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;  // by path
};

}  // namespace mandate
