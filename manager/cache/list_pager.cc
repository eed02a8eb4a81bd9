#include "manager/cache/list_pager.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/list_codec.h"

namespace mandate {

// It may outlive the pager, because the transport holds it.
class ListPager::Page : public BodySink {
 public:
  // Takes the bytes of the page that will be held, and returns an error if they are too many.
  using Admit = std::function<absl::Status(size_t)>;
  using Pack = std::function<ObjectPtr(ObjectPtr)>;

  Page(const ListReader::Options& options, Admit admit, Pack pack)
      : options_(options), admit_(std::move(admit)), pack_(std::move(pack)) {}

  void OnHeaders(const HttpResponse& head) override {
    reader_.emplace(EncodingOf(head.content_type), options_);
    items_.clear();
    kept_ = 0;
  }
  absl::Status OnBody(std::string_view bytes) override {
    RETURN_IF_ERROR(admit_(kept_ + reader_->pending_bytes() + bytes.size()));
    RETURN_IF_ERROR(reader_->Feed(bytes));
    // At once: a page of large objects would not fit in the memory that holds them packed.
    KeepItems(reader_->TakeItems());
    return absl::OkStatus();
  }

  // The items as they are kept.
  absl::StatusOr<RawList> Take() {
    ASSIGN_OR_RETURN(RawList list, std::move(*reader_).Finish());
    KeepItems(std::move(list.items));
    list.items = std::move(items_);
    return list;
  }

 private:
  void KeepItems(std::vector<ObjectPtr> items) {
    for (ObjectPtr& item : items) {
      items_.push_back(pack_(std::move(item)));
      kept_ += items_.back()->stored_size();
    }
  }

  const ListReader::Options options_;
  const Admit admit_;
  const Pack pack_;
  std::optional<ListReader> reader_;
  std::vector<ObjectPtr> items_;
  size_t kept_ = 0;
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
absl::Status ListPager::Admit(size_t page_bytes) const {
  const size_t bytes = bytes_ + page_bytes;
  if (bytes <= options_.max_list_bytes) return options_.admit(bytes);
  return absl::ResourceExhaustedError(
      StrCat("the list is larger than ", options_.max_list_bytes, " bytes, the limit of one list"));
}

void ListPager::SendPage() {
  ++pages_;
  const CallContext context{client_.loop().clock().TimeNow() + options_.page_timeout,
                            stop_.get_token()};
  Page::Admit admit =
      weak_.BindOr([this](size_t bytes) { return Admit(bytes); },
                   [](size_t) { return absl::CancelledError("the list is no longer wanted"); });
  page_ = std::make_shared<Page>(
      ListReader::Options{.json = {}, .max_item_bytes = options_.max_item_bytes}, std::move(admit),
      weak_.BindOr([this](ObjectPtr object) { return options_.pack(std::move(object)); },
                   [](ObjectPtr object) { return object; }));
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
  for (ObjectPtr& object : page->items) result_.content.Put(std::move(object));
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
