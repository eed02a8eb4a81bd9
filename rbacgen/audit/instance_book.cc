#include "rbacgen/audit/instance_book.h"

#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

bool IsDone(const AuditEvent& event) {
  return event.code >= 200 && event.code < 300 &&
         event.request_uri.find("dryRun=") == std::string::npos;
}

}  // namespace

void InstanceBook::NoteInstance(const AuditEvent& event) {
  if (event.resource != "scopeinstances" || event.group != "operators.coreos.com") return;
  if (!IsDone(event)) return;
  for (const std::string& uid : event.body.uids) {
    if (known_.size() < max_instances_) {
      known_.insert(uid);
    } else {
      has_gap_ = has_gap_ || !known_.contains(uid);
    }
  }
  if (event.verb == "list") {
    const bool some = event.request_uri.find("Selector=") != std::string::npos ||
                      event.request_uri.find("continue=") != std::string::npos;
    has_list_ = has_list_ || (event.body.is_list && !some);
  }
  // An apply may also have made the instance.
  const bool makes = event.verb == "create" || (event.verb == "patch" && event.code == 201);
  if (makes && event.subresource.empty() && event.body.uids.empty()) has_gap_ = true;
}

void InstanceBook::NoteBinding(const AuditEvent& event, const std::string& component) {
  const std::string& uid = event.body.instance_uid;
  if (uid.empty() || event.code != 201 || !IsDone(event)) return;
  if (bindings_.size() >= max_instances_) return;
  bindings_.try_emplace(uid, StrCat(component, " created ", event.resource, " ",
                                    event.ns.empty() ? "" : StrCat(event.ns, "/"), event.name,
                                    " at ", event.received, ", audit id ", event.audit_id));
}

void InstanceBook::Check(const std::function<void(std::string text)>& find) const {
  if (!has_list_ || has_gap_) return;
  for (const auto& [uid, words] : bindings_) {
    if (known_.contains(uid)) continue;
    find(StrCat(words, ", for the ScopeInstance with UID ", uid, ", which is not in this log"));
  }
}

}  // namespace mandate::rbacgen
