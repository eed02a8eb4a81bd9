#include "manager/cache/list_pager.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/list_codec.h"

namespace mandate {

// It may outlive the pager, because the transport holds it.
class ListPager::Page : public BodySink {
 public:
  using Admit = std::function<absl::Status(size_t)>;

  Page(const ListReader::Options& options, Admit admit)
      : options_(options), admit_(std::move(admit)) {}

  void OnHeaders(const HttpResponse& head) override {
    reader_.emplace(EncodingOf(head.content_type), options_);
  }
  absl::Status OnBody(std::string_view bytes) override {
    RETURN_IF_ERROR(admit_(reader_->bytes() + bytes.size()));
    return reader_->Feed(bytes);
  }

  // The part of an answer after its head.
  size_t bytes() const { return reader_->bytes(); }
  absl::StatusOr<RawList> Take() { return std::move(*reader_).Finish(); }

 private:
  const ListReader::Options options_;
  const Admit admit_;
  std::optional<ListReader> reader_;
};

ListPager::ListPager(RestClient& client, DemandSpec spec, Options options)
    : client_(client), spec_(std::move(spec)), options_(std::move(options)) {}

ListPager::~ListPager() {
  weak_.Reset();
  stop_.request_stop();
}

void ListPager::Start(Done done) {
  done_ = std::move(done);
  query_ = {.limit = options_.page_size, .continue_token = ""};
  SendPage();
}

// A copy that is kept may be larger than what has arrived: it may have another encoding.
size_t ListPager::Left() const {
  return options_.max_list_bytes - std::min(bytes_, options_.max_list_bytes);
}

void ListPager::SendPage() {
  ++pages_;
  const CallContext context{client_.loop().clock().TimeNow() + options_.page_timeout,
                            stop_.get_token()};
  Page::Admit admit =
      weak_.BindOr([this](size_t bytes) { return options_.admit(bytes_ + bytes); },
                   [](size_t) { return absl::CancelledError("the list is no longer wanted"); });
  page_ = std::make_shared<Page>(
      ListReader::Options{
          .json = {}, .max_item_bytes = options_.max_item_bytes, .max_bytes = Left()},
      std::move(admit));
  RestRequest request = ListRequest(spec_, options_.encoding, query_);
  request.body_sink = page_;
  client_.Send(
      context, std::move(request),
      weak_.Bind([this](absl::StatusOr<HttpResponse> response) { OnPage(std::move(response)); }));
}

void ListPager::OnPage(absl::StatusOr<HttpResponse> response) {
  if (!response.ok()) {
    if (!IsGone(response.status()) || query_.continue_token.empty()) {
      return Finish(std::move(response).status());
    }
    result_.content = {};
    bytes_ = 0;
    query_ = {.limit = 0, .continue_token = ""};
    return SendPage();
  }
  auto page = page_->Take();
  if (!page.ok()) return Finish(std::move(page).status());
  for (ObjectPtr& object : page->items) result_.content.Put(options_.pack(std::move(object)));
  bytes_ = result_.content.bytes.stored;
  result_.resource_version = std::move(page->resource_version);
  if (page->continue_token.empty()) return Finish(std::move(result_));
  if (pages_ >= options_.max_pages) {
    return Finish(absl::ResourceExhaustedError(
        StrCat("the list of ", spec_.ToString(), " has more than ", options_.max_pages,
               " pages of ", options_.page_size, ": raise max_pages, or demand a narrower scope")));
  }
  query_.continue_token = std::move(page->continue_token);
  SendPage();
}

void ListPager::Finish(absl::StatusOr<Result> result) {
  // The caller may destroy this.
  Done done = std::move(done_);
  std::move(done)(std::move(result));
}

}  // namespace mandate
