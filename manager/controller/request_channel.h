// Requests of a controller that no watch causes: another system has changed, a webhook was called,
// a callback of a library came.
//
//   auto channel = std::make_shared<RequestChannel>();
//   ControllerBuilder<kWebapp>(component.controller_context)
//       .For<WebApp>()
//       .WithChannel(channel)
//       .Complete(…);
//   channel->Enqueue({{"default", "sample"}});  // any thread
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "manager/controller/request.h"
#include "manager/core/mutex.h"

namespace mandate {

// The way into the queue of one controller. Thread-safe.
class RequestChannel {
 public:
  // Adds the request to the controller's queue, as an event would: a request that is queued already
  // is merged with it. False if it was not added: the queue is full, or the controller does not
  // exist yet or was stopped. Does not block.
  bool Enqueue(const Request& request, int priority = kDefaultPriority) {
    std::shared_ptr<const Sink> sink;
    {
      MutexLock lock(mutex_);
      sink = sink_;
    }
    return sink != nullptr && (*sink)(request, priority);
  }

  // For the controller.
  using Sink = std::function<bool(const Request& request, int priority)>;
  void Connect(Sink sink) {
    auto shared = std::make_shared<const Sink>(std::move(sink));
    MutexLock lock(mutex_);
    sink_ = std::move(shared);
  }

 private:
  Mutex mutex_;
  std::shared_ptr<const Sink> sink_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
