// A whole Manager on the double over HTTPS, for tests.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "manager/core/testing/log_capture.h"
#include "manager/manager.h"
#include "testing/apiserver/api_server.h"

namespace mandate {

// The token of the manager's own ServiceAccount.
inline constexpr char kBaseToken[] = "base-of-the-double";

// A log whose lines can be waited for. Thread-safe.
class AwaitedLog : public LogCapture {
 public:
  void Write(const LogRecord& record) override;
  // Waits for a line that has `text`, and returns it.
  std::string Await(std::string_view text);

 private:
  Mutex mutex_;
  CondVar changed_;
};

// The double and a Manager in namespace "default". The cluster grants each component what its
// mandate declares, and base what the chart grants it. For one thread.
class TestManager {
 public:
  explicit TestManager(const std::vector<const rbac::Mandate*>& components);
  // Stops the manager.
  ~TestManager();

  apiserver::ApiServer& server() { return *server_; }
  AwaitedLog& log() { return *log_; }

  // For the next Create().
  ManagerOptions options;
  absl::StatusOr<std::unique_ptr<Manager>> Create(std::vector<ComponentSpec> components) const;

  // Creates a manager and runs it on a thread of its own. Aborts the process if it has no manager.
  void Run(std::vector<ComponentSpec> components);
  // The result of Run(), once it has ended by itself.
  absl::Status Join();
  void RequestStop() { stop_.request_stop(); }
  // Both.
  absl::Status Stop();

  // The holder of the manager's Lease, or "".
  std::string Holder();
  // How many writes of Events the server has taken.
  size_t EventWrites();

 private:
  const std::shared_ptr<AwaitedLog> log_ = std::make_shared<AwaitedLog>();
  std::unique_ptr<apiserver::ApiServer> server_;
  std::unique_ptr<Manager> manager_;
  std::stop_source stop_;
  absl::Status result_;
  std::jthread runs_;
};

}  // namespace mandate
