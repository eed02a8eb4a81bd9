// A request that was received over a socket.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "manager/transport/testing/server_stream.h"
#include "testing/apiserver/exchange.h"

namespace mandate::apiserver {

// Loop thread only.
class SocketExchange : public Exchange {
 public:
  SocketExchange(Request request, std::shared_ptr<ServerStream> stream)
      : Exchange(std::move(request)), stream_(std::move(stream)) {}

 protected:
  void WriteWhole(const Response& response) override {
    stream_->Respond(response.code, response.body, response.headers);
  }
  void WriteHead(const Response& head) override { stream_->Open(head.code, head.headers); }
  void Write(std::string bytes) override { stream_->Send(std::move(bytes)); }
  void WriteEnd() override { stream_->End(); }
  void WriteAbort() override { stream_->Reset(/*NGHTTP2_INTERNAL_ERROR=*/2); }

 private:
  const std::shared_ptr<ServerStream> stream_;
};

}  // namespace mandate::apiserver
