// A whole Manager on the double over HTTPS, for tests of the Manager: they choose its options, and
// when it starts and ends. Tests of components use testing/environment.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manager/core/testing/awaited_log.h"
#include "manager/manager.h"
#include "manager/rbac/mandate_in_namespace.h"
#include "testing/apiserver/api_server.h"
#include "testing/environment/grants.h"
#include "testing/environment/manager_thread.h"

namespace mandate {

// The token of the manager's own ServiceAccount.
inline constexpr char kBaseToken[] = "base-of-the-double";

inline constexpr std::string_view kTestReads[] = {"list", "watch"};
inline constexpr std::string_view kTestGroups[] = {""};
inline constexpr std::string_view kTestResources[] = {"configmaps"};
// The rule of a component that reads ConfigMaps.
inline constexpr rbac::RuleView kReadConfigMaps = {kTestReads, kTestGroups, kTestResources, {}, {}};

// The double and a Manager in namespace "default". The cluster grants each component what its
// mandate declares, and base what the chart grants it. For one thread.
class TestManager {
 public:
  explicit TestManager(const std::vector<const rbac::Mandate*>& components);

  apiserver::ApiServer& server() { return *server_; }
  AwaitedLog& log() { return *log_; }

  // For the next Create().
  ManagerOptions options;
  absl::StatusOr<std::unique_ptr<Manager>> Create(std::vector<ComponentSpec> components) const;

  // Creates a manager and runs it on a thread of its own. Aborts the process if it has no manager.
  void Run(std::vector<ComponentSpec> components);
  // The result of Run(), once it has ended by itself.
  absl::Status Join() { return runs_.Join(); }
  void RequestStop() { runs_.RequestStop(); }
  // Both.
  absl::Status Stop() { return runs_.Stop(); }

  // The holder of the manager's Lease, or "".
  std::string Holder();
  // How many writes of Events the server has taken.
  size_t EventWrites();

 private:
  const std::shared_ptr<AwaitedLog> log_ = std::make_shared<AwaitedLog>();
  const rbac::MandateInNamespace base_{kTestBase, "default"};
  std::unique_ptr<apiserver::ApiServer> server_;
  ManagerThread runs_;
};

}  // namespace mandate
