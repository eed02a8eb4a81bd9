#include "manager/transport/testing/server_stream.h"

namespace mandate {

std::string_view ServerRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

ServerStream::ServerStream(Loop& loop, std::weak_ptr<ServerStreamWriter> writer, uint64_t id,
                           ServerRequest request)
    : loop_(loop), writer_(std::move(writer)), id_(id), request_(std::move(request)) {}

void ServerStream::MarkClosed() {
  closed_ = true;
  if (on_closed_) loop_.Post(std::exchange(on_closed_, nullptr));
}

void ServerStream::Do(std::function<void(ServerStreamWriter&)> work) {
  if (closed_) return;
  if (loop_.IsCurrent()) {
    if (const auto writer = writer_.lock()) work(*writer);
    return;
  }
  loop_.Post([self = shared_from_this(), work = std::move(work)] {
    if (self->closed_) return;
    if (const auto writer = self->writer_.lock()) work(*writer);
  });
}

void ServerStream::Respond(int code, std::string body, HttpHeaders headers) {
  headers.emplace_back("content-length", std::to_string(body.size()));
  Open(code, std::move(headers));
  if (!body.empty()) Send(std::move(body));
  End();
}

void ServerStream::Open(int code, HttpHeaders headers) {
  Do([id = id_, code, headers = std::move(headers)](ServerStreamWriter& writer) {
    writer.Open(id, code, headers);
  });
}

void ServerStream::Send(std::string bytes) {
  Do([id = id_, bytes = std::move(bytes)](ServerStreamWriter& writer) { writer.Send(id, bytes); });
}

void ServerStream::End() {
  Do([id = id_](ServerStreamWriter& writer) { writer.End(id); });
}

void ServerStream::Reset(uint32_t error_code) {
  Do([id = id_, error_code](ServerStreamWriter& writer) { writer.Reset(id, error_code); });
}

}  // namespace mandate
