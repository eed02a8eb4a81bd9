#include "manager/transport/testing/transport_fixture.h"

#include <algorithm>

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
  last_bytes_ = bytes;
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

std::string_view CollectingSink::last_bytes() const {
  MutexLock lock(mutex_);
  return last_bytes_;
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

void OnLoopDeleter::operator()(Stream* stream) const {
  if (loop->IsCurrent()) {
    delete stream;
    return;
  }
  Latch done;
  loop->Post([&] {
    delete stream;
    done.Set();
  });
  loop->Await(done);
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

std::shared_ptr<ServerStream> TransportFixture::Kept(size_t index) {
  MutexLock lock(mutex_);
  return kept_.at(index);
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

void TransportFixture::Start(HttpOptions options, H2Server::Options server) {
  StartServer([this](std::shared_ptr<ServerStream> stream) { Serve(std::move(stream)); },
              std::move(server));
  StartTransport(std::move(options));
}

void TransportFixture::Serve(std::shared_ptr<ServerStream> stream) {
  const ServerRequest& request = stream->request();
  const std::string connection = std::to_string(request.connection);
  const bool watch = request.target.starts_with("/watch");
  const bool half = request.target.starts_with("/half");
  const bool hold = request.target.starts_with("/hold") && request.connection == 1;
  // A test that waits for the count finds the stream.
  if (watch || half || hold) Keep(stream);
  CountUp(request.method + " " + request.target);
  if (request.target == "/livez") {
    CountUp("probes as " + std::string(request.Header("user-agent")) + " " +
            std::string(request.Header("authorization")));
    // The user may not be allowed to ask. That is a response too.
    stream->Respond(403, "{}");
  } else if (watch || half) {
    HttpHeaders headers = ServerStream::JsonHeaders();
    if (half) headers.emplace_back("content-length", "1000");
    stream->Open(200, std::move(headers));
    stream->Send(connection);
  } else if (!hold) {
    stream->Respond(200, connection);
  }
}

void TransportFixture::ChangeEndpoint(const std::function<void(Endpoint&)>& change) {
  auto endpoint = std::make_shared<Endpoint>(*endpoint_);
  change(*endpoint);
  endpoint_ = std::move(endpoint);
}

HttpRequest TransportFixture::Request(std::string target, std::string token,
                                      std::string method) const {
  HttpRequest request(endpoint_, BearerToken{std::make_shared<const Secret>(std::move(token))},
                      std::move(method), std::move(target));
  request.user_agent = "test";
  return request;
}

void TransportFixture::OnLoop(const std::function<void()>& work) {
  if (loop_->IsCurrent()) return work();
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

std::vector<std::shared_ptr<AsyncCall>> TransportFixture::StartCalls(
    std::vector<HttpRequest> requests) {
  std::vector<std::shared_ptr<AsyncCall>> calls;
  OnLoop([&] {
    for (HttpRequest& request : requests) {
      calls.push_back(std::make_shared<AsyncCall>());
      transport_->Call({}, std::move(request), Into(calls.back()));
    }
  });
  return calls;
}

const absl::StatusOr<HttpResponse>& TransportFixture::Await(
    const std::shared_ptr<AsyncCall>& call) {
  loop_->Await(call->done);
  return call->result;
}

absl::StatusOr<HttpResponse> TransportFixture::Call(HttpRequest request, CallContext context) {
  const auto call = StartCall(std::move(request), context);
  loop_->Await(call->done);
  return std::move(call->result);
}

std::string TransportFixture::Ask(HttpRequest request, CallContext context) {
  const auto answer = Call(std::move(request), context);
  return answer.ok() ? answer->body : answer.status().ToString();
}

CallContext TransportFixture::Within(absl::Duration duration) const {
  return CallContext().WithDeadline(loop_->clock().TimeNow() + duration);
}

void TransportFixture::OpenInto(Watch& watch, HttpRequest request) {
  OnLoop([&] {
    watch.stream = {transport_->Open(std::move(request), watch.sink).release(), {loop_.get()}};
  });
}

Watch TransportFixture::Open(HttpRequest request) {
  Watch watch;
  OpenInto(watch, std::move(request));
  return watch;
}

std::vector<Watch> TransportFixture::OpenMany(int count) {
  std::vector<Watch> watches(static_cast<size_t>(count));
  OnLoop([&] {
    for (size_t i = 0; i < watches.size(); ++i) {
      HttpRequest request = Request("/watch/" + std::to_string(i), "t" + std::to_string(i % 50));
      request.user_agent = "component-" + std::to_string(i % 50);
      OpenInto(watches[i], std::move(request));
    }
  });
  return watches;
}

bool TransportFixture::Has(const Watch& watch, std::string_view data) {
  return Eventually([&] { return watch.sink->data() == data; });
}

bool TransportFixture::AllOpen(const std::vector<Watch>& watches) {
  return Eventually([&] {
    return std::none_of(watches.begin(), watches.end(),
                        [](const Watch& watch) { return watch.sink->data().empty(); });
  });
}

absl::Status TransportFixture::EndOf(const Watch& watch) {
  if (!Eventually([&] { return watch.sink->closed().has_value(); })) {
    return absl::UnknownError("the stream does not end");
  }
  OnLoop([] {});
  if (watch.sink->closed_count() != 1) return absl::UnknownError("the stream ended twice");
  if (watch.sink->called_after_close()) return absl::UnknownError("data came after the end");
  return *watch.sink->closed();
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

void TransportFixture::WaitFor(absl::Duration duration) {
  const absl::Time end = loop_->clock().TimeNow() + duration;
  EXPECT_TRUE(Eventually([&] { return loop_->clock().TimeNow() > end; }));
}

}  // namespace mandate
