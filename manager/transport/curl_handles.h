// Owners of libcurl's handles.
#pragma once

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

// A list of strings for libcurl. A string may hold a bearer token: all are zeroed before they are
// freed.
class CurlList {
 public:
  CurlList() = default;
  ~CurlList();
  CurlList(const CurlList&) = delete;
  CurlList& operator=(const CurlList&) = delete;

  // Zeroes `line` too. False: out of memory.
  [[nodiscard]] bool Append(std::string& line);
  // Adds a header. An empty value sends none, not even libcurl's own.
  [[nodiscard]] bool AppendHeader(std::string_view name, std::string_view prefix,
                                  std::string_view value);

  // Valid as long as this object; null if the list is empty.
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

// Runs once a process. Thread-safe, except that it removes SSLKEYLOGFILE from the environment.
// False: libcurl cannot be used.
bool InitializeCurl();

}  // namespace mandate
