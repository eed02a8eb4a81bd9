// Admission by webhooks: mutating ones one after the other, validating ones all at once.
#ifndef TESTING_APISERVER_ACCESS_ADMISSION_H_
#define TESTING_APISERVER_ACCESS_ADMISSION_H_

#include <functional>
#include <memory>
#include <string>

#include "manager/core/executor.h"
#include "manager/core/weak_self.h"
#include "testing/apiserver/access/webhook.h"
#include "testing/apiserver/access/webhook_caller.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// Loop thread only. Writes that are under way when it is destroyed are never answered.
class Admission {
 public:
  // Borrows the objects and the loop, on which calls time out. `new_uid` makes the ids of reviews.
  Admission(const ObjectReader& objects, Loop& loop, WebhookCaller caller,
            std::function<std::string()> new_uid);

  // `object`: what the write is to store, which webhooks may change; null of a DELETE.
  void Mutate(std::shared_ptr<const WriteAttributes> write, Json::Value object,
              WriteHooks::Mutated done);
  void Validate(std::shared_ptr<const WriteAttributes> write, WriteHooks::Checked done);

 private:
  class Mutation;
  class Validation;
  using Judged = absl::AnyInvocable<void(absl::StatusOr<Verdict>) &&>;

  // Asks one webhook. An error that carries a Status refuses the write; any other is why the
  // webhook could not be asked, which is the webhook's policy to judge.
  void Ask(const Webhook& webhook, const WriteAttributes& write, const Json::Value& object,
           WebhookKind kind, Judged done);

  const ObjectReader& objects_;
  Loop& loop_;
  const WebhookCaller caller_;
  const std::function<std::string()> new_uid_;
  // What comes back once this is gone is dropped.
  WeakSelf weak_;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_ADMISSION_H_
