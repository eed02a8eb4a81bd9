// One LIST, page by page.
#ifndef MANAGER_CACHE_LIST_PAGER_H_
#define MANAGER_CACHE_LIST_PAGER_H_

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/cache/store.h"
#include "manager/cache/watch_request.h"
#include "manager/client/rest_client.h"
#include "manager/core/weak_self.h"

namespace mandate {

// A consistent read: it asks for the newest state, and never for what a server happens to have
// cached (resourceVersion=0). Follows client-go's pager: when the continue token expires at the
// second page or later, the whole list is asked for once more without pages. Each page is read as
// it comes. Loop thread only.
class ListPager {
 public:
  struct Options {
    int page_size = 500;
    // Each is kResourceExhausted when it is met.
    int max_pages = 20'000;
    size_t max_item_bytes = size_t{8} << 20;
    size_t max_list_bytes = size_t{4} << 30;  // of all pages
    absl::Duration page_timeout = absl::Seconds(60);
    Encoding encoding = Encoding::kJson;
    // Asked with the bytes of all pages so far, also while a page comes; an error ends the list.
    std::function<absl::Status(size_t)> admit = [](size_t) { return absl::OkStatus(); };
  };
  struct Result {
    std::string resource_version;
    ObjectStore::Content content;
  };
  // Not called inside Start(), nor after the pager is gone.
  using Done = absl::AnyInvocable<void(absl::StatusOr<Result>) &&>;

  // `client` outlives this.
  ListPager(RestClient& client, DemandSpec spec, Options options);
  // Takes the request in flight back.
  ~ListPager();

  // Once.
  void Start(Done done);

 private:
  class Page;

  void SendPage();
  void OnPage(absl::StatusOr<HttpResponse> response);
  void Finish(absl::StatusOr<Result> result);

  RestClient& client_;
  const DemandSpec spec_;
  const Options options_;
  ListQuery query_;
  int pages_ = 0;
  size_t bytes_ = 0;            // of the pages that are read
  std::shared_ptr<Page> page_;  // under way
  Result result_;
  Done done_;
  std::stop_source stop_;
  // Responses that come after this is gone find it expired.
  WeakSelf weak_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_LIST_PAGER_H_
