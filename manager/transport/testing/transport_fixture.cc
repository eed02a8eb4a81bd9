#include "manager/transport/testing/transport_fixture.h"

namespace mandate {
namespace {

// A status that shares nothing with another: ThreadSanitizer does not see the reference counting of
// Debian's absl::Status, and reports a race when two threads release one.
absl::Status Unshared(const absl::Status& status) {
  absl::Status unshared(status.code(), std::string(status.message()));
  status.ForEachPayload([&unshared](absl::string_view url, const absl::Cord& payload) {
    unshared.SetPayload(url, absl::Cord(std::string(payload)));
  });
  return unshared;
}

}  // namespace

StreamSink::Flow CollectingSink::OnOpen(const HttpResponse& head) {
  MutexLock lock(mutex_);
  if (closed_.has_value()) called_after_close_ = true;
  code_ = head.code;
  return Flow::kContinue;
}

StreamSink::Flow CollectingSink::OnData(std::string_view bytes) {
  MutexLock lock(mutex_);
  if (closed_.has_value()) called_after_close_ = true;
  data_.append(bytes);
  return Flow::kContinue;
}

void CollectingSink::OnClosed(absl::Status status) {
  MutexLock lock(mutex_);
  closed_ = Unshared(status);
  ++closed_count_;
}

int CollectingSink::code() const {
  MutexLock lock(mutex_);
  return code_;
}

std::string CollectingSink::data() const {
  MutexLock lock(mutex_);
  return data_;
}

std::optional<absl::Status> CollectingSink::closed() const {
  MutexLock lock(mutex_);
  return closed_.has_value() ? std::optional(Unshared(*closed_)) : std::nullopt;
}

int CollectingSink::closed_count() const {
  MutexLock lock(mutex_);
  return closed_count_;
}

bool CollectingSink::called_after_close() const {
  MutexLock lock(mutex_);
  return called_after_close_;
}

TransportFixture::TransportFixture() : loop_(*EventLoop::Create({.thread_name = "transport"})) {}

TransportFixture::~TransportFixture() = default;

void TransportFixture::TearDown() {
  if (transport_ != nullptr) {
    OnLoop([this] { transport_.reset(); });
    OnLoop([] {});  // it has removed everything when this returns
  }
  server_.reset();
}

void TransportFixture::Keep(std::shared_ptr<ServerStream> stream) {
  MutexLock lock(mutex_);
  kept_.push_back(std::move(stream));
}

std::vector<std::shared_ptr<ServerStream>> TransportFixture::TakeKept() {
  MutexLock lock(mutex_);
  return std::exchange(kept_, {});
}

int TransportFixture::CountUp(const std::string& what) {
  MutexLock lock(mutex_);
  return ++counts_[what];
}

int TransportFixture::CountOf(const std::string& what) {
  MutexLock lock(mutex_);
  return counts_[what];
}

void TransportFixture::StartServer(ServerHandler handler, H2Server::Options options) {
  if (options.ca == nullptr) options.ca = &ca_;
  server_ = *H2Server::Create(std::move(options), std::move(handler));
  auto endpoint = std::make_shared<Endpoint>();
  endpoint->server = server_->url();
  endpoint->ca_pem = ca_.certificate_pem();
  endpoint_ = std::move(endpoint);
}

void TransportFixture::StartTransport(HttpOptions options) {
  transport_ = *HttpTransport::Create(*loop_, options);
}

HttpRequest TransportFixture::Request(std::string target, std::string token,
                                      std::string method) const {
  HttpRequest request(endpoint_, BearerToken{std::make_shared<const Secret>(std::move(token))},
                      std::move(method), std::move(target));
  request.user_agent = "test";
  return request;
}

void TransportFixture::OnLoop(const std::function<void()>& work) {
  Latch done;
  loop_->Post([&] {
    work();
    done.Set();
  });
  loop_->Await(done);
}

Transport::Done TransportFixture::Into(std::shared_ptr<AsyncCall> call) {
  return [call = std::move(call)](absl::StatusOr<HttpResponse> response) {
    if (response.ok()) {
      call->result = std::move(response);
    } else {
      call->result = Unshared(response.status());
    }
    ++call->times_done;
    call->done.Set();
  };
}

std::shared_ptr<AsyncCall> TransportFixture::StartCall(HttpRequest request, CallContext context) {
  auto call = std::make_shared<AsyncCall>();
  OnLoop([&] {
    transport_->Call(context, std::move(request), Into(call));
    EXPECT_EQ(call->times_done, 0) << "done was called inside Call()";
  });
  return call;
}

absl::StatusOr<HttpResponse> TransportFixture::Call(HttpRequest request, CallContext context) {
  const auto call = StartCall(std::move(request), context);
  loop_->Await(call->done);
  return std::move(call->result);
}

CallContext TransportFixture::Within(absl::Duration duration) const {
  return CallContext().WithDeadline(loop_->clock().TimeNow() + duration);
}

Watch TransportFixture::Open(HttpRequest request) {
  Watch watch;
  watch.sink = std::make_shared<CollectingSink>();
  OnLoop([&] { watch.stream = transport_->Open(std::move(request), watch.sink); });
  return watch;
}

void TransportFixture::Close(Watch& watch) {
  OnLoop([&watch] { watch.stream.reset(); });
}

HttpTransport::Stats TransportFixture::Stats() {
  HttpTransport::Stats stats;
  OnLoop([&] { stats = transport_->stats(); });
  return stats;
}

bool TransportFixture::Eventually(const std::function<bool()>& condition) {
  const absl::Time limit = loop_->clock().TimeNow() + absl::Minutes(5);
  while (!condition()) {
    if (loop_->clock().TimeNow() > limit) return false;
    // Looks again every 2 ms: other threads do what is waited for.
    Latch later;
    std::unique_ptr<Loop::Timer> timer;
    OnLoop([&] {
      timer = loop_->RunAt(loop_->clock().TimeNow() + absl::Milliseconds(2), [&] { later.Set(); });
    });
    loop_->Await(later);
    OnLoop([&] { timer.reset(); });
  }
  return true;
}

}  // namespace mandate
