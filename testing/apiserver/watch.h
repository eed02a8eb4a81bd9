// An open watch: sends the events of the store's history and of later changes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "manager/core/executor.h"
#include "testing/apiserver/exchange.h"
#include "testing/apiserver/kinds.h"
#include "testing/apiserver/list_query.h"
#include "testing/apiserver/store.h"

namespace mandate::apiserver {

struct WatchOptions {
  absl::Duration bookmark_interval = absl::Minutes(1);
  // The timeout of watches without timeoutSeconds.
  absl::Duration default_timeout = absl::Minutes(30);
  // The maximum wait for a resourceVersion that is higher than the current one.
  absl::Duration fresh_wait = absl::Seconds(3);
  // Whether a bookmark is sent; a fault may drop it. Null means always.
  std::function<bool()> lets_bookmark;
  // The plurals of the kinds without a watch cache: each watch reads the changes from etcd itself.
  std::set<std::string> uncached;
};

// It lives until its exchange is closed. Loop thread only.
class WatchStream : public std::enable_shared_from_this<WatchStream> {
 public:
  struct Context {
    Loop& loop;
    Store& store;
    const WatchOptions& options;
  };

  // Starts the response; the stream then continues by itself.
  static void Start(Context context, std::shared_ptr<Exchange> exchange,
                    std::shared_ptr<const ResourceType> type, ListQuery query, Encoding encoding);

  WatchStream(Context context, std::shared_ptr<Exchange> exchange,
              std::shared_ptr<const ResourceType> type, ListQuery query, Encoding encoding)
      : context_(context),
        exchange_(std::move(exchange)),
        type_(std::move(type)),
        query_(std::move(query)),
        encoding_(encoding) {}

 private:
  void Begin();
  void SendInitialState();
  void Follow();
  void OnChange(const Change& change);
  void OnReconnect();
  bool uncached() const { return context_.options.uncached.contains(type_->name.resource); }
  void Bookmark();
  void ScheduleBookmark();
  void Fail(const absl::Status& error);
  void Closed();

  const Context context_;
  const std::shared_ptr<Exchange> exchange_;
  const std::shared_ptr<const ResourceType> type_;
  const ListQuery query_;
  const Encoding encoding_;
  absl::Time ends_ = absl::InfiniteFuture();
  int64_t after_ = 0;  // changes up to this revision were sent or do not match
  int64_t seen_ = 0;   // the last change that this watch has seen in etcd
  uint64_t subscription_ = 0;
  uint64_t reconnect_ = 0;
  std::unique_ptr<Loop::Timer> timeout_;
  std::unique_ptr<Loop::Timer> bookmark_;
};

}  // namespace mandate::apiserver
