#include "testing/conformance/audit_log.h"

#include <fstream>
#include <iterator>
#include <memory>

#include "manager/object/json.h"

namespace mandate::conformance {

Json::Value AuditLog::EventsOf(const std::string& audit_id) {
  MutexLock lock(mutex_);
  rest_ += more_();
  size_t begin = 0;
  for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    auto event = ParseJson(std::string_view(rest_).substr(begin, end - begin));
    if (!event.ok() || !event->isObject()) continue;
    const Json::Value* id = FindMember(*event, "auditID");
    if (id == nullptr || !id->isString()) continue;
    Json::Value& events = events_[id->asString()];
    events.append(*std::move(event));
  }
  rest_.erase(0, begin);
  const auto found = events_.find(audit_id);
  return found == events_.end() ? Json::Value(Json::arrayValue) : found->second;
}

std::function<std::string()> FollowFile(const std::string& path) {
  auto file = std::make_shared<std::ifstream>(path, std::ios::binary);
  file->seekg(0, std::ios::end);
  return [file] {
    file->clear();  // clears the end-of-file state
    return std::string(std::istreambuf_iterator<char>(*file), {});
  };
}

}  // namespace mandate::conformance
