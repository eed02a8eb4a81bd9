// Scripted connections, for tests of the rules above a codec.
//
//   ScriptedNetwork network;
//   … new_codec = network.NewCodec() …
//   network.codec(0).Send("/a");
//   network.codec(0).End("/a", {.status = absl::OkStatus()});
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/transport/client_codec.h"

namespace mandate {

// Requests are named by their targets. Single-threaded.
class ScriptedCodec : public ClientCodec {
 public:
  // An error in `full` is the result of Add(). `full` outlives this.
  ScriptedCodec(Observer& observer, const absl::Status& full) : observer_(observer), full_(full) {}

  absl::Status Add(std::shared_ptr<ActiveRequest> active) override {
    if (!full_.ok()) return full_;
    added_.push_back(active->request().target);
    active_.push_back(std::move(active));
    return absl::OkStatus();
  }
  bool Remove(const ActiveRequest& active) override {
    std::erase_if(active_, [&](const auto& one) { return one.get() == &active; });
    return sent_[active.request().target];
  }
  bool Flush() override { return true; }
  bool closed() const override { return closed_; }

  // The request goes out.
  void Send(const std::string& target) {
    sent_[target] = true;
    observer_.OnSent(*Find(target));
  }
  // The request goes out, and the head of its response comes.
  void Answer(const std::string& target, bool multiplexed = true) {
    Send(target);
    observer_.OnHeaders(multiplexed);
    HttpResponse head;
    head.code = 200;
    Find(target)->OnHeaders(head);
    observer_.OnCompleted({});
  }
  // Something comes that belongs to none of the requests.
  void Hear() { observer_.OnReceived(); }
  // The request ends with `result`, except that this sets `sent`.
  void End(const std::string& target, TransferResult result) {
    std::shared_ptr<ActiveRequest> active = Find(target);
    std::erase(active_, active);
    result.sent = sent_[target];
    observer_.OnCompleted({{std::move(active), std::move(result)}});
  }
  // The server closed the connection, and nothing else has happened yet.
  void Vanish() {
    closed_ = true;
    observer_.OnCompleted({});
  }

  // The requests that were added, in order, and whether this one is still there.
  const std::vector<std::string>& added() const { return added_; }
  bool Has(const std::string& target) const { return Find(target) != nullptr; }
  // Null: no such request.
  const ActiveRequest* Get(const std::string& target) const { return Find(target).get(); }

 private:
  std::shared_ptr<ActiveRequest> Find(const std::string& target) const {
    const auto at = std::find_if(active_.begin(), active_.end(),
                                 [&](const auto& one) { return one->request().target == target; });
    return at == active_.end() ? nullptr : *at;
  }

  Observer& observer_;
  const absl::Status& full_;
  std::vector<std::shared_ptr<ActiveRequest>> active_;
  std::vector<std::string> added_;
  std::map<std::string, bool> sent_;
  bool closed_ = false;
};

// The connections, in the order in which they were made.
class ScriptedNetwork {
 public:
  ClientCodecFactory NewCodec() {
    return [this](ClientCodec::Observer& observer) -> absl::StatusOr<std::unique_ptr<ClientCodec>> {
      if (!connect_error_.ok()) return connect_error_;
      auto codec = std::make_unique<ScriptedCodec>(observer, add_error_);
      codecs_.push_back(codec.get());
      return codec;
    };
  }
  // Each attempt to connect fails with `status`, unless it is OK.
  void FailConnecting(absl::Status status) { connect_error_ = std::move(status); }
  // Each attempt to add a request to a connection fails with `status`, unless it is OK.
  void RefuseRequests(absl::Status status) { add_error_ = std::move(status); }
  size_t size() const { return codecs_.size(); }
  // Valid while the transport has it.
  ScriptedCodec& codec(size_t number) { return *codecs_.at(number); }

 private:
  std::vector<ScriptedCodec*> codecs_;
  absl::Status connect_error_, add_error_;
};

}  // namespace mandate
