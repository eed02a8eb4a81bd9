#include "testing/apiserver/api_server.h"

#include <utility>

#include "manager/core/strings.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/socket_exchange.h"
#include "testing/apiserver/status_response.h"

namespace mandate::apiserver {

absl::StatusOr<std::unique_ptr<ApiServer>> ApiServer::Create(ServerOptions options) {
  auto server = std::unique_ptr<ApiServer>(new ApiServer);
  auto h2 = H2Server::Create({.ca = &server->ca_},
                             [server = server.get()](std::shared_ptr<ServerStream> stream) {
                               server->Serve(std::move(stream));
                             });
  if (!h2.ok()) return std::move(h2).status();
  server->h2_ = *std::move(h2);
  Latch done;
  server->h2_->loop().Post([&] {
    server->core_ = std::make_unique<ServerCore>(server->h2_->loop(), std::move(options));
    done.Set();
  });
  server->h2_->loop().Await(done);
  return server;
}

ApiServer::~ApiServer() {
  if (h2_ == nullptr || core_ == nullptr) return;
  Latch done;
  h2_->loop().Post([&] {
    core_.reset();
    done.Set();
  });
  h2_->loop().Await(done);
}

void ApiServer::OnLoop(const std::function<void(ServerCore&)>& work) {
  if (h2_->loop().IsCurrent()) return work(*core_);
  Latch done;
  h2_->loop().Post([&] {
    work(*core_);
    done.Set();
  });
  h2_->loop().Await(done);
}

void ApiServer::Serve(std::shared_ptr<ServerStream> stream) {
  if (core_ == nullptr) return stream->Reset(/*NGHTTP2_REFUSED_STREAM=*/7);
  const ServerRequest& from = stream->request();
  absl::StatusOr<Request> request =
      Request::Parse(from.method, from.target, from.headers, from.body);
  if (!request.ok()) {
    const Response refusal = StatusResponse(BadRequest(AsStd(request.status().message())), {});
    return stream->Respond(refusal.code, refusal.body, refusal.headers);
  }
  request->certificate.common_name = from.client_common_name;
  auto exchange = std::make_shared<SocketExchange>(*std::move(request), stream);
  stream->OnClosed([weak = std::weak_ptr<Exchange>(exchange)] {
    if (const auto gone = weak.lock()) gone->MarkGone();
  });
  core_->Serve(std::move(exchange));
}

}  // namespace mandate::apiserver
