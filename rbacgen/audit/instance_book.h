// A record of the ScopeInstances in a log, to find bindings that belong to none of them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "rbacgen/audit/event.h"

namespace mandate::rbacgen {

// Check() reports only if the log has the bindings' bodies (level Request), a list of all
// ScopeInstances, and every later change of them (level RequestResponse). Memory is bounded. Not
// thread-safe.
class InstanceBook {
 public:
  explicit InstanceBook(size_t max_instances = 10000) : max_instances_(max_instances) {}

  // Records a request of any user about a ScopeInstance.
  void NoteInstance(const AuditEvent& event);
  // Records a component's request that made a binding.
  void NoteBinding(const AuditEvent& event, const std::string& component);

  void Check(const std::function<void(std::string text)>& find) const;

 private:
  const size_t max_instances_;
  std::set<std::string> known_;                  // UIDs
  std::map<std::string, std::string> bindings_;  // the first binding for each UID, in words
  bool has_list_ = false;
  bool has_gap_ = false;  // instances with unknown UIDs may exist
};

}  // namespace mandate::rbacgen
