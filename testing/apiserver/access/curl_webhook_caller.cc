#include "testing/apiserver/access/curl_webhook_caller.h"

#include <curl/curl.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "manager/core/thread_pool.h"

namespace mandate::apiserver {
namespace {

constexpr int kThreads = 4;

size_t Append(char* data, size_t size, size_t count, void* body) {
  static_cast<std::string*>(body)->append(data, size * count);
  return size * count;
}

int StopIf(void* stopping, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::atomic<bool>*>(stopping)->load() ? 1 : 0;
}

absl::StatusOr<WebhookReply> Post(const WebhookCall& call, std::atomic<bool>& stopping) {
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(
      curl_slist_append(nullptr, "Content-Type: application/json"), &curl_slist_free_all);
  WebhookReply reply;
  std::string ca = call.ca_pem;
  curl_blob blob{.data = ca.data(), .len = ca.size(), .flags = CURL_BLOB_NOCOPY};
  curl_easy_setopt(easy.get(), CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_PROXY, "");
  curl_easy_setopt(easy.get(), CURLOPT_USERAGENT, "kube-apiserver-admission");
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, call.body.data());
  curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(call.body.size()));
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT_MS,
                   static_cast<long>(absl::ToInt64Milliseconds(call.timeout)));
  if (!ca.empty()) curl_easy_setopt(easy.get(), CURLOPT_CAINFO_BLOB, &blob);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, &Append);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &reply.body);
  curl_easy_setopt(easy.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy.get(), CURLOPT_XFERINFOFUNCTION, &StopIf);
  curl_easy_setopt(easy.get(), CURLOPT_XFERINFODATA, &stopping);
  if (const CURLcode code = curl_easy_perform(easy.get()); code != CURLE_OK) {
    return absl::UnavailableError(curl_easy_strerror(code));
  }
  long code = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &code);
  reply.code = static_cast<int>(code);
  return reply;
}

struct Calls {
  ~Calls() { stopping = true; }  // the threads are joined afterwards
  std::atomic<bool> stopping = false;
  ThreadPool threads{kThreads};
};

}  // namespace

WebhookCaller CurlWebhookCaller(Loop& loop) {
  const auto calls = std::make_shared<Calls>();
  return [calls, &loop](WebhookCall call,
                        absl::AnyInvocable<void(absl::StatusOr<WebhookReply>) &&> done) {
    // Not the caller itself: no task of the pool may be the last to let go of it.
    calls->threads.Post([call = std::move(call), done = std::move(done), &loop,
                         &stopping = calls->stopping]() mutable {
      loop.Post([done = std::move(done), reply = Post(call, stopping)]() mutable {
        std::move(done)(std::move(reply));
      });
    });
  };
}

}  // namespace mandate::apiserver
