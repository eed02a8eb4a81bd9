// libcurl's handles, owned.
#ifndef MANAGER_TRANSPORT_CURL_HANDLES_H_
#define MANAGER_TRANSPORT_CURL_HANDLES_H_

#include <curl/curl.h>

#include <memory>
#include <string>
#include <string_view>

namespace mandate {

struct CurlEasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using CurlEasy = std::unique_ptr<CURL, CurlEasyDeleter>;

struct CurlMultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
using CurlMulti = std::unique_ptr<CURLM, CurlMultiDeleter>;

// A list of strings for libcurl. One of them may hold a bearer token: all are zeroed before they
// are freed.
class CurlList {
 public:
  CurlList() = default;
  ~CurlList();
  CurlList(const CurlList&) = delete;
  CurlList& operator=(const CurlList&) = delete;

  // Zeroes `line` too. False: out of memory.
  [[nodiscard]] bool Append(std::string& line);
  // A header; an empty value sends none, also not libcurl's own.
  [[nodiscard]] bool AppendHeader(std::string_view name, std::string_view prefix,
                                  std::string_view value);

  // Valid as long as this; null: empty.
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

// Once per process, thread-safe but for SSLKEYLOGFILE, which it removes from the environment;
// false: libcurl cannot be used.
bool InitializeCurl();

}  // namespace mandate

#endif  // MANAGER_TRANSPORT_CURL_HANDLES_H_
