#include "webhooks/scope/large_checks.h"

namespace mandate::scope {

std::shared_ptr<void> LargeChecks::Take(const std::string& user) {
  MutexLock lock(mutex_);
  if (running_ >= in_all_) return nullptr;
  size_t& running = by_user_[user];
  if (running >= per_user_) return nullptr;
  ++running;
  ++running_;
  return {this, [self = shared_from_this(), user](void*) {
            MutexLock end(self->mutex_);
            --self->running_;
            const auto found = self->by_user_.find(user);
            if (--found->second == 0) self->by_user_.erase(found);
          }};
}

}  // namespace mandate::scope
