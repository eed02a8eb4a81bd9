// One LIST, page by page.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/cache/reflector_target.h"
#include "manager/cache/watch_request.h"
#include "manager/client/rest_client.h"
#include "manager/core/weak_self.h"

namespace mandate {

// A consistent read of the newest state, never of a server's cache (resourceVersion=0). It follows
// client-go's pager: if the continue token expires at the second page or later, it requests the
// whole list once more, without pages. Each page is decoded and packed while it arrives. Loop
// thread only.
class ListPager {
 public:
  struct Options {
    int page_size = 500;
    // Exceeding one is kResourceExhausted.
    int max_pages = 20'000;
    size_t max_item_bytes = size_t{8} << 20;
    size_t max_list_bytes = size_t{4} << 30;  // of all pages
    absl::Duration page_timeout = absl::Seconds(60);
    Encoding encoding = Encoding::kJson;
    // The form in which to keep an object (ReflectorTarget::Pack).
    std::function<ObjectPtr(ObjectPtr)> pack = [](ObjectPtr object) { return object; };
    // Called with the bytes of all pages so far as they are kept, also while a page arrives; an
    // error ends the list.
    std::function<absl::Status(size_t)> admit = [](size_t) { return absl::OkStatus(); };
  };
  struct Result {
    std::string resource_version;
    ReflectorTarget::Content content;
  };
  // Not called inside Start(), nor after the pager was destroyed.
  using Done = absl::AnyInvocable<void(absl::StatusOr<Result>) &&>;

  // `client` outlives this.
  ListPager(RestClient& client, DemandSpec spec, Options options);
  // Cancels the request in flight.
  ~ListPager();

  // Once.
  void Start(Done done);

 private:
  class Page;

  // OK while so many bytes of the page under way may be held.
  absl::Status Admit(size_t page_bytes) const;
  void SendPage();
  void OnPage(absl::StatusOr<HttpResponse> response);
  void Finish(absl::StatusOr<Result> result);

  RestClient& client_;
  const DemandSpec spec_;
  const Options options_;
  ListQuery query_;
  int pages_ = 0;
  size_t bytes_ = 0;            // of the pages that are read, as they are kept
  std::shared_ptr<Page> page_;  // under way
  Result result_;
  Done done_;
  std::stop_source stop_;
  // Responses that arrive after this was destroyed find it expired.
  WeakSelf weak_;
};

}  // namespace mandate
