// A Manager that runs on a thread of its own.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "manager/core/clock.h"
#include "manager/core/testing/awaited_log.h"
#include "manager/manager.h"

namespace mandate {

// The options of a manager in this namespace that serves nothing and logs to `log`.
inline ManagerOptions TestManagerOptions(std::string ns, const rbac::Mandate& base,
                                         std::shared_ptr<AwaitedLog> log) {
  ManagerOptions options;
  options.ns = std::move(ns);
  options.version = "test";
  options.base_mandate = &base;
  options.health_address = "0";
  options.metrics_address = "0";
  options.log = Logger(std::move(log), Clock::Real());
  return options;
}

// For one thread.
class ManagerThread {
 public:
  // Stops the manager.
  ~ManagerThread() { RequestStop(); }

  void Start(std::unique_ptr<Manager> manager) {
    manager_ = std::move(manager);
    runs_ = std::jthread([this] { result_ = manager_->Run(stop_.get_token()); });
  }
  void RequestStop() { stop_.request_stop(); }
  // The result of Run(), once it has ended.
  absl::Status Join() {
    if (runs_.joinable()) runs_.join();
    return result_;
  }
  absl::Status Stop() {
    RequestStop();
    return Join();
  }

 private:
  std::unique_ptr<Manager> manager_;
  std::stop_source stop_;
  absl::Status result_;
  std::jthread runs_;
};

}  // namespace mandate
