#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "manager/transport/testing/server_session.h"

namespace mandate {
namespace {

class Http2Session : public ServerSession, public std::enable_shared_from_this<Http2Session> {
 public:
  Http2Session(Context context, uint32_t max_concurrent_streams) : context_(std::move(context)) {
    nghttp2_session_callbacks* callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnDataChunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, OnFrameSent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnStreamClose);
    nghttp2_option* option;
    nghttp2_option_new(&option);
    // Silently drops headers that no client accepts.
    nghttp2_option_set_max_send_header_block_length(option, 1 << 24);
    nghttp2_session_server_new2(&session_, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, max_concurrent_streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, 1 << 24);
  }

  ~Http2Session() override { nghttp2_session_del(session_); }

  bool Receive(std::string_view bytes) override {
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    return nghttp2_session_mem_recv(session_, data, bytes.size()) >= 0;
  }

  void Collect(std::string& out, size_t limit) override {
    if (const auto frame = std::exchange(going_away_, std::nullopt)) {
      // Only now: it names the last request that was taken, and closes those after it.
      const int32_t last = frame->last.has_value()
                               ? static_cast<int32_t>(*frame->last)
                               : nghttp2_session_get_last_proc_stream_id(session_);
      nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last, frame->error_code, nullptr, 0);
    }
    while (out.size() < limit) {
      const uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &data);
      if (size <= 0) return;
      out.append(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    }
  }

  bool done() const override {
    return !nghttp2_session_want_read(session_) && !nghttp2_session_want_write(session_);
  }

  // As long as Go's server waits, for requests in flight that learn from GOAWAY that they were not
  // served.
  absl::Duration linger() const override { return absl::Seconds(1); }

  void GoAway(GoAwayFrame frame) override {
    going_away_ = frame;
    context_.wants_to_write();
  }

  size_t open_streams() const override { return streams_.size(); }

  void CloseStreams() override {
    for (auto& [id, state] : streams_) {
      if (state.stream != nullptr) state.stream->MarkClosed();
    }
    streams_.clear();
  }

  void Open(uint64_t stream, int code, const HttpHeaders& headers) override {
    const auto it = streams_.find(stream);
    if (it == streams_.end() || it->second.opened) return;
    it->second.opened = true;
    const std::string status = std::to_string(code);
    std::vector<nghttp2_nv> fields = {Field(":status", status)};
    for (const auto& [name, value] : headers) fields.push_back(Field(name, value));
    const nghttp2_data_provider provider = {.source = {.ptr = this}, .read_callback = ReadBody};
    nghttp2_submit_response(session_, static_cast<int32_t>(stream), fields.data(), fields.size(),
                            &provider);
    context_.wants_to_write();
  }

  void Send(uint64_t stream, std::string bytes) override {
    const auto it = streams_.find(stream);
    if (it == streams_.end() || it->second.ended) return;
    it->second.outgoing += bytes;
    Resume(stream);
  }

  void End(uint64_t stream) override {
    const auto it = streams_.find(stream);
    if (it == streams_.end()) return;
    it->second.ended = true;
    Resume(stream);
  }

  void Reset(uint64_t stream, uint32_t error_code) override {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, static_cast<int32_t>(stream),
                              error_code);
    context_.wants_to_write();
  }

 private:
  struct StreamState {
    ServerRequest request;
    std::shared_ptr<ServerStream> stream;  // null until the request is complete
    std::string outgoing;
    size_t sent = 0;  // of `outgoing`
    bool opened = false;
    bool ended = false;
  };

  static Http2Session& Self(void* user_data) { return *static_cast<Http2Session*>(user_data); }

  // Points into both, which outlive it.
  static nghttp2_nv Field(std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view text) {
      return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
    };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  }

  void AnswerEarly(uint64_t stream) {
    if (!context_.early_answer.has_value() || !streams_.contains(stream)) return;
    const EarlyAnswer& answer = *context_.early_answer;
    context_.answered_early();
    if (answer.code == 401) GoAway({.last = stream});
    Open(stream, answer.code, {{"content-length", std::to_string(answer.body.size())}});
    if (answer.at_once) return FinishEarly(stream);
    // In a TLS record after the head's, as Go's server sends it.
    context_.loop.Post([weak = weak_from_this(), stream] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      self->context_.loop.Post([weak, stream] {
        if (const auto session = weak.lock()) session->FinishEarly(stream);
      });
    });
  }

  void FinishEarly(uint64_t stream) {
    Send(stream, context_.early_answer->body);
    End(stream);
  }

  // The response is out before the request is complete: the rest of the request is dropped.
  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    const bool ended = frame->hd.type == NGHTTP2_DATA && frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (ended && Self(user_data).context_.early_answer.has_value()) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  void Resume(uint64_t stream) {
    nghttp2_session_resume_data(session_, static_cast<int32_t>(stream));
    context_.wants_to_write();
  }

  static ssize_t ReadBody(nghttp2_session*, int32_t stream_id, uint8_t* buffer, size_t length,
                          uint32_t* flags, nghttp2_data_source*, void* user_data) {
    auto& streams = Self(user_data).streams_;
    const auto it = streams.find(static_cast<uint64_t>(stream_id));
    if (it == streams.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    StreamState& state = it->second;
    const size_t count = std::min(length, state.outgoing.size() - state.sent);
    std::memcpy(buffer, state.outgoing.data() + state.sent, count);
    state.sent += count;
    if (state.sent == state.outgoing.size()) {
      state.outgoing.clear();
      state.sent = 0;
      if (state.ended) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
      } else if (count == 0) {
        return NGHTTP2_ERR_DEFERRED;
      }
    }
    return static_cast<ssize_t>(count);
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      Self(user_data).streams_.try_emplace(static_cast<uint64_t>(frame->hd.stream_id));
    }
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    auto& streams = Self(user_data).streams_;
    const auto it = streams.find(static_cast<uint64_t>(frame->hd.stream_id));
    if (it == streams.end()) return 0;
    ServerRequest& request = it->second.request;
    std::string key(reinterpret_cast<const char*>(name), name_size);
    std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":method") {
      request.method = std::move(text);
    } else if (key == ":path") {
      request.target = std::move(text);
    } else {
      request.headers.emplace_back(std::move(key), std::move(text));
    }
    return 0;
  }

  static int OnDataChunk(nghttp2_session*, uint8_t, int32_t stream_id, const uint8_t* data,
                         size_t size, void* user_data) {
    auto& streams = Self(user_data).streams_;
    const auto it = streams.find(static_cast<uint64_t>(stream_id));
    if (it != streams.end()) {
      it->second.request.body.append(reinterpret_cast<const char*>(data), size);
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    if (frame->hd.type == NGHTTP2_HEADERS && !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) {
      Self(user_data).AnswerEarly(static_cast<uint64_t>(frame->hd.stream_id));
    }
    const bool may_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!may_end || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
    Http2Session& self = Self(user_data);
    const auto id = static_cast<uint64_t>(frame->hd.stream_id);
    const auto it = self.streams_.find(id);
    if (it == self.streams_.end() || it->second.stream != nullptr) return 0;
    StreamState& state = it->second;
    state.request.connection = self.context_.connection;
    state.request.client_common_name = self.context_.client_common_name;
    state.stream = std::make_shared<ServerStream>(self.context_.loop, self.weak_from_this(), id,
                                                  std::move(state.request));
    self.context_.handler(state.stream);
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, int32_t stream_id, uint32_t, void* user_data) {
    auto& streams = Self(user_data).streams_;
    auto node = streams.extract(static_cast<uint64_t>(stream_id));
    if (!node.empty() && node.mapped().stream != nullptr) node.mapped().stream->MarkClosed();
    return 0;
  }

  const Context context_;
  nghttp2_session* session_ = nullptr;
  std::optional<GoAwayFrame> going_away_;
  std::map<uint64_t, StreamState> streams_;
};

}  // namespace

std::shared_ptr<ServerSession> NewHttp2Session(ServerSession::Context context,
                                               uint32_t max_concurrent_streams) {
  return std::make_shared<Http2Session>(std::move(context), max_concurrent_streams);
}

}  // namespace mandate
