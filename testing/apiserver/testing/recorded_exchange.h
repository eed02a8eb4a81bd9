// An exchange that records its response.
#pragma once

#include <string>
#include <utility>

#include "testing/apiserver/exchange.h"

namespace mandate::apiserver {

// Loop thread only.
class RecordedExchange : public Exchange {
 public:
  using Exchange::Exchange;

  const Response& head() const { return head_; }
  // The body that was sent so far.
  const std::string& body() const { return body_; }
  bool aborted() const { return aborted_; }

 protected:
  void WriteWhole(const Response& response) override {
    head_ = response;
    body_ = response.body;
  }
  void WriteHead(const Response& head) override { head_ = head; }
  void Write(std::string bytes) override { body_ += bytes; }
  void WriteEnd() override {}
  void WriteAbort() override { aborted_ = true; }

 private:
  Response head_{.code = 0, .headers = {}, .body = ""};
  std::string body_;
  bool aborted_ = false;
};

}  // namespace mandate::apiserver
