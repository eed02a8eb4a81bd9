// What the writes of one reconcile came to.
#ifndef CONTROLLERS_WRITE_LOG_H_
#define CONTROLLERS_WRITE_LOG_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/cache/cache.h"
#include "manager/controller/reconciler.h"
#include "manager/core/call_context.h"
#include "manager/object/kind.h"

namespace mandate {

// Tries everything, remembers what failed, and waits until the cache has seen what did not: so
// that the next reconcile neither writes twice nor stops at the first failure. Not thread-safe.
class WriteLog {
 public:
  // `what` names the object in messages: "RoleBinding foo/reader-x".
  template <Object T>
  void Add(std::string_view what, const absl::StatusOr<T>& written) {
    if (written.ok()) {
      Wrote(KindOf<T>::value, written->metadata().resourceversion());
    } else {
      Failed(what, written.status());
    }
  }
  // A deletion. An object that is gone already, or replaced, is what was wanted.
  void AddRemoval(std::string_view what, const KindInfo& kind, const ObjectKey& key,
                  std::string_view uid, const absl::Status& status);

  const std::vector<std::string>& failures() const { return failures_; }

  // Until `view` shows all of it, within `context`.
  absl::Status AwaitSeen(const CallContext& context, CacheView& view) const;

  // What the reconcile returns: forbidden writes are tried again after `forbidden_retry`, as
  // nothing tells when a grant comes; other failures with the queue's growing delays.
  absl::StatusOr<Result> ToResult(absl::Duration forbidden_retry) const;

 private:
  struct Removed {
    KindInfo kind;
    ObjectKey key;
    std::string uid;
  };

  void Wrote(const KindInfo& kind, std::string_view resource_version);
  void Failed(std::string_view what, const absl::Status& status);

  std::vector<std::string> failures_;
  absl::Status first_retryable_;
  // The newest write of each kind, by plural and group; the view passes them in order.
  std::map<std::string, std::pair<KindInfo, std::string>> newest_;
  std::vector<Removed> removed_;
};

}  // namespace mandate

#endif  // CONTROLLERS_WRITE_LOG_H_
