#include "testing/conformance/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "manager/core/clock.h"
#include "manager/core/strings.h"

namespace mandate::conformance {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(30);
// How late Await() may notice `done` while no data arrives, or only over the other protocol.
constexpr int kPollMs = 20;

void SetBlob(CURL* easy, CURLoption option, std::string& data) {
  curl_blob blob = {data.data(), data.size(), CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy, option, &blob);
}

class CurlExchange : public Exchange {
 public:
  CurlExchange(CURLM* multi, Connection& connection, const Request& request)
      : multi_(multi), easy_(curl_easy_init()), sent_(request.body) {
    curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
    curl_easy_setopt(easy_, CURLOPT_URL, connection.server.c_str());
    curl_easy_setopt(easy_, CURLOPT_REQUEST_TARGET, request.target.c_str());
    curl_easy_setopt(
        easy_, CURLOPT_HTTP_VERSION,
        request.has_body || request.http1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy_, CURLOPT_CAPATH, nullptr);
    SetBlob(easy_, CURLOPT_CAINFO_BLOB, connection.ca_pem);
    if (request.certificate) {
      SetBlob(easy_, CURLOPT_SSLCERT_BLOB, connection.certificate_pem);
      SetBlob(easy_, CURLOPT_SSLKEY_BLOB, connection.key_pem);
    }
    for (const auto& [name, value] : request.headers) {
      // For libcurl, "Name:" removes the header and "Name;" sends it empty.
      const std::string line = value.empty() ? name + ";" : StrCat(name, ": ", value);
      headers_ = curl_slist_append(headers_, line.c_str());
    }
    const bool has_type =
        std::any_of(request.headers.begin(), request.headers.end(),
                    [](const auto& h) { return absl::AsciiStrToLower(h.first) == "content-type"; });
    if (!has_type) headers_ = curl_slist_append(headers_, "Content-Type:");
    headers_ = curl_slist_append(headers_, "Expect:");
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
    if (request.has_body) {
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(sent_.size()));
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, sent_.data());
    }
    if (request.method == "HEAD") curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, OnHeader);
    curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, OnBody);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
    curl_multi_add_handle(multi_, easy_);
  }

  ~CurlExchange() override {
    curl_multi_remove_handle(multi_, easy_);
    curl_easy_cleanup(easy_);
    curl_slist_free_all(headers_);
  }
  CurlExchange(const CurlExchange&) = delete;
  CurlExchange& operator=(const CurlExchange&) = delete;

  bool headed() const override { return headed_; }
  bool ended() const override { return ended_; }
  const absl::Status& status() const override { return status_; }
  Response& response() override { return response_; }

  void End(CURLcode code) {
    ended_ = true;
    headed_ = headed_ || code == CURLE_OK;
    if (code != CURLE_OK) status_ = absl::UnavailableError(curl_easy_strerror(code));
  }

 private:
  static size_t OnHeader(char* data, size_t size, size_t count, void* self) {
    static_cast<CurlExchange*>(self)->AddHeader({data, size * count});
    return size * count;
  }

  static size_t OnBody(char* data, size_t size, size_t count, void* self) {
    static_cast<CurlExchange*>(self)->response_.body.append(data, size * count);
    return size * count;
  }

  void AddHeader(std::string_view line) {
    if (line.starts_with("HTTP/")) {
      response_.headers.clear();
      return;
    }
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      response_.headers.emplace(
          absl::AsciiStrToLower(AsAbsl(line.substr(0, colon))),
          std::string(absl::StripAsciiWhitespace(AsAbsl(line.substr(colon + 1)))));
    } else if (line == "\r\n") {
      long code = 0;
      curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &code);
      response_.code = static_cast<int>(code);
      headed_ = code >= 200;
    }
  }

  CURLM* const multi_;
  CURL* const easy_;
  std::string sent_;
  curl_slist* headers_ = nullptr;
  Response response_;
  bool headed_ = false;
  bool ended_ = false;
  absl::Status status_;
};

}  // namespace

std::string Response::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

struct HttpClient::Impl {
  explicit Impl(Connection to) : connection(std::move(to)) {}
  ~Impl() {
    curl_multi_cleanup(http1);
    curl_multi_cleanup(http2);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Advances all exchanges, and returns the handle to wait on for more data.
  CURLM* Perform() {
    int running1 = 0, running2 = 0;
    curl_multi_perform(http1, &running1);
    curl_multi_perform(http2, &running2);
    for (CURLM* const multi : {http1, http2}) {
      int left = 0;
      while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
        CurlExchange* exchange = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
        exchange->End(message->data.result);
      }
    }
    return running1 > 0 ? http1 : http2;
  }

  Connection connection;
  // Separate handles, so that an HTTP/2 request does not reuse a connection that supports only
  // HTTP/1.1.
  CURLM* const http1 = curl_multi_init();
  CURLM* const http2 = curl_multi_init();
};

HttpClient::HttpClient(Connection connection)
    : impl_(std::make_unique<Impl>(std::move(connection))) {}

HttpClient::~HttpClient() = default;

std::unique_ptr<Exchange> HttpClient::Start(const Request& request) {
  CURLM* const multi = request.has_body ? impl_->http1 : impl_->http2;
  return std::make_unique<CurlExchange>(multi, impl_->connection, request);
}

bool HttpClient::Await(const std::function<bool()>& done, absl::Duration patience) {
  const absl::Time deadline = Clock::Real().TimeNow() + patience;
  for (;;) {
    CURLM* const busy = impl_->Perform();
    if (done()) return true;
    const absl::Duration rest = deadline - Clock::Real().TimeNow();
    if (rest <= absl::ZeroDuration()) return false;
    const int wait = static_cast<int>(std::min<int64_t>(kPollMs, rest / absl::Milliseconds(1)));
    curl_multi_poll(busy, nullptr, 0, std::max(wait, 1), nullptr);
  }
}

absl::StatusOr<Response> HttpClient::Send(const Request& request) {
  const std::unique_ptr<Exchange> exchange = Start(request);
  if (!Await([&] { return exchange->ended(); }, kTimeout)) {
    return absl::UnavailableError(StrCat("no answer within ", absl::FormatDuration(kTimeout)));
  }
  if (!exchange->status().ok()) return exchange->status();
  return std::move(exchange->response());
}

absl::StatusOr<std::vector<Response>> HttpClient::SendAll(const std::vector<Request>& requests,
                                                          size_t at_once) {
  std::vector<Response> responses(requests.size());
  std::map<size_t, std::unique_ptr<Exchange>> running;  // by index
  const auto any_ended = [&running] {
    return std::any_of(running.begin(), running.end(),
                       [](const auto& one) { return one.second->ended(); });
  };
  for (size_t next = 0; next < requests.size() || !running.empty();) {
    for (; running.size() < at_once && next < requests.size(); ++next) {
      running.emplace(next, Start(requests[next]));
    }
    const bool in_time = Await(any_ended, kTimeout);
    for (auto it = running.begin(); it != running.end();) {
      const auto& [index, exchange] = *it;
      const absl::Status status =
          in_time ? exchange->status() : absl::UnavailableError("no answer in time");
      if (!status.ok()) {
        return absl::UnavailableError(StrCat(requests[index].method, " ", requests[index].target,
                                             ": ", std::string(status.message())));
      }
      if (!exchange->ended()) {
        ++it;
        continue;
      }
      responses[index] = std::move(exchange->response());
      it = running.erase(it);
    }
  }
  return responses;
}

}  // namespace mandate::conformance
