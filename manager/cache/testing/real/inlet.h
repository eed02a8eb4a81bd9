// Holds back what a server sends, so that a test can look at a cache, or change the server, while
// nothing arrives.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "manager/client/rest_client.h"

namespace mandate::model {

// Where the answers and streams of all clients pass. Loop thread only.
class Inlet {
 public:
  // From Hold() to Release() what arrives is kept, in its order; Release() passes it on.
  void Hold() { held_ = true; }
  void Release();
  // From now on nothing is passed on.
  void Close();
  bool open() const { return !held_ && !closed_ && waiting_.empty(); }

  // Runs the task now, or when it is its turn.
  void Pass(std::function<void()> task);
  // Notes that something has passed.
  void NoteNews() {
    if (on_news_) on_news_();
  }
  // Runs at each answer and each part of a stream; null: nothing runs.
  void OnNews(std::function<void()> hook) { on_news_ = std::move(hook); }

 private:
  bool held_ = false;
  bool closed_ = false;
  std::deque<std::function<void()>> waiting_;
  std::function<void()> on_news_;
};

// A client whose answers and streams pass an inlet. Loop thread only.
class HeldClient : public RestClient {
 public:
  // `inner` outlives the client.
  HeldClient(RestClient& inner, std::shared_ptr<Inlet> inlet)
      : inner_(inner), inlet_(std::move(inlet)) {}

  void Send(const CallContext& context, RestRequest request, Done done) override;
  std::unique_ptr<Stream> Watch(RestRequest request, std::shared_ptr<StreamSink> sink) override;
  std::string_view component() const override { return inner_.component(); }
  Loop& loop() override { return inner_.loop(); }

 private:
  class Body;
  class Handle;
  class Sink;

  RestClient& inner_;
  const std::shared_ptr<Inlet> inlet_;
};

}  // namespace mandate::model
