// A work queue, with a time that the test advances.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/controller/work_queue.h"

namespace mandate {

// Single-threaded.
class WorkQueueTest : public testing::Test {
 protected:
  using Names = std::vector<std::string>;
  static constexpr absl::Duration kMs = absl::Milliseconds(1);
  static Request Req(const std::string& name) { return {{"", name}}; }

  bool Add(const std::string& name, WorkQueue::AddOptions options = {}) {
    return queue_.Add(Req(name), options, now_);
  }
  const WorkItem* AddAndGet(const std::string& name, WorkQueue::AddOptions options = {}) {
    Add(name, options);
    const WorkItem* item = Get();
    EXPECT_NE(item, nullptr);
    return item;
  }
  // The server asks to wait for `wait`.
  void Fail(const WorkItem& item, absl::Duration wait = {}) {
    Done(item, {Outcome::Next::kRetry, wait});
  }
  // Fails the next item, and advances time to its retry.
  void FailAndWait() {
    Fail(*Get());
    now_ = queue_.NextReady();
  }
  void Done(const WorkItem& item, const Outcome& outcome = {}) { queue_.Done(item, outcome, now_); }
  const WorkItem* Get() { return queue_.Get(now_); }
  // The names that are handed out until none is ready. Each item is marked as done.
  std::vector<std::string> Drain() {
    std::vector<std::string> names;
    const WorkItem* item = Get();
    while (item != nullptr) {
      names.push_back(item->request().key.name);
      item = queue_.DoneAndGet(*item, {}, now_);
    }
    return names;
  }
  size_t Len() { return queue_.Len(now_); }
  void UpdateMetrics(WorkQueue& queue) { queue.UpdateMetrics(queue_metrics_, now_); }
  double Counter(const std::string& name) { return metrics_.Counter(name, "", labels_).Value(); }
  double Gauge(const std::string& name, Labels labels = {}) {
    labels.insert(labels_.begin(), labels_.end());
    return metrics_.Gauge(name, "", labels).Value();
  }

  absl::Time now_ = absl::FromUnixSeconds(1000);
  WorkQueue queue_{{}};
  const Labels labels_ = {{"name", "q"}, {"controller", "q"}, {"identity", "c"}};
  Metrics metrics_;
  QueueMetrics queue_metrics_{metrics_, "q", "c"};
};

}  // namespace mandate
