#include "manager/transport/curl_handles.h"

#include <stdlib.h>
#include <string.h>

#include "manager/core/freed_memory.h"

namespace mandate {

CurlList::~CurlList() {
  for (curl_slist* node = list_; node != nullptr; node = node->next) {
    explicit_bzero(node->data, strlen(node->data));
  }
  curl_slist_free_all(list_);
}

bool CurlList::Append(std::string& line) {
  curl_slist* const longer = curl_slist_append(list_, line.c_str());
  explicit_bzero(line.data(), line.size());
  if (longer == nullptr) return false;
  list_ = longer;
  return true;
}

bool CurlList::AppendHeader(std::string_view name, std::string_view prefix,
                            std::string_view value) {
  std::string line;
  // There must be no second allocation, which would leave a copy of half a token.
  line.reserve(name.size() + 2 + prefix.size() + value.size());
  line.append(name).append(":");
  if (!value.empty()) line.append(" ").append(prefix).append(value);
  return Append(line);
}

bool InitializeCurl() {
  static const bool ok = [] {
    // libcurl would write the keys of every TLS connection to the file in this variable.
    unsetenv("SSLKEYLOGFILE");
    return curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, EraseAndFree, EraseAndReallocate,
                                strdup, calloc) == CURLE_OK;
  }();
  return ok;
}

}  // namespace mandate
