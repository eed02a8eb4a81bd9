#include "testing/apiserver/access/admission.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "manager/core/pending.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/object/patch.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/errors.h"

namespace mandate::apiserver {
namespace {

absl::Status FailedCalling(const Webhook& webhook, std::string_view why) {
  return absl::UnavailableError(
      StrCat("failed calling webhook ", rbac::Quote(webhook.name), ": ", why));
}

// Seconds, rounded up.
std::string WithTimeout(const std::string& url, absl::Duration timeout) {
  const int64_t seconds = absl::ToInt64Seconds(absl::Ceil(timeout, absl::Seconds(1)));
  return StrCat(url, url.find('?') == std::string::npos ? "?" : "&", "timeout=", seconds, "s");
}

void Note(const WriteAttributes& write, const Webhook& webhook, const Verdict& verdict) {
  Notes& notes = *write.request->notes;
  for (const auto& [key, value] : verdict.annotations) {
    notes.annotations[StrCat(webhook.name, "/", key)] = value;
  }
  notes.warnings.insert(notes.warnings.end(), verdict.warnings.begin(), verdict.warnings.end());
}

// The key of an annotation about the webhook at that place.
std::string Place(std::string_view what, size_t index) {
  return StrCat(what, ".webhook.admission.k8s.io/round_0_index_", index);
}

}  // namespace

Admission::Admission(const ObjectReader& objects, Loop& loop, WebhookCaller caller,
                     std::function<std::string()> new_uid)
    : objects_(objects), loop_(loop), caller_(std::move(caller)), new_uid_(std::move(new_uid)) {}

void Admission::Ask(const Webhook& webhook, const WriteAttributes& write, const Json::Value& object,
                    WebhookKind kind, Judged done) {
  if (write.dry_run && !webhook.dry_run) {
    std::move(done)(BadRequest(
        StrCat("admission webhook ", rbac::Quote(webhook.name), " does not support dry run")));
    return;
  }
  const std::string uid = new_uid_();
  const std::string url = WithTimeout(webhook.url, webhook.timeout);
  const std::string post = StrCat("failed to call webhook: Post ", rbac::Quote(url), ": ");

  const auto asking = std::make_shared<Pending<absl::StatusOr<Verdict>>>(std::move(done));
  const std::function<void(absl::StatusOr<Verdict>)> end =
      weak_.Bind([asking](absl::StatusOr<Verdict> verdict) {
        if (!asking->taken()) std::move(asking->Take())(std::move(verdict));
      });
  asking->Arm(loop_, {.deadline = loop_.clock().TimeNow() + webhook.timeout, .stop = {}},
              [end, webhook, post](absl::StatusCode) {
                end(FailedCalling(webhook, post + "context deadline exceeded"));
              });
  if (!caller_) {
    end(FailedCalling(webhook, post + "the double has no caller of webhooks"));
    return;
  }
  caller_({.url = url,
           .ca_pem = webhook.ca_pem,
           .body = AdmissionReviewBody(uid, write, object),
           .timeout = webhook.timeout},
          [end, webhook, uid, kind, post](absl::StatusOr<WebhookReply> reply) {
            if (!reply.ok()) {
              end(FailedCalling(webhook, StrCat(post, reply.status().message())));
              return;
            }
            auto verdict = ReadVerdict(*reply, uid, kind);
            if (!verdict.ok()) {
              end(FailedCalling(webhook, AsStd(verdict.status().message())));
            } else {
              end(std::move(verdict));
            }
          });
}

// One write's way through the mutating webhooks.
class Admission::Mutation : public std::enable_shared_from_this<Mutation> {
 public:
  Mutation(Admission& admission, std::shared_ptr<const WriteAttributes> write, Json::Value object,
           WriteHooks::Mutated done)
      : admission_(admission),
        write_(std::move(write)),
        webhooks_(ReadWebhooks(admission.objects_, WebhookKind::kMutating)),
        object_(std::move(object)),
        done_(std::move(done)) {}

  void Go() {
    while (next_ < webhooks_.size()) {
      const auto called = IsCalled(webhooks_[next_], *write_, object_, admission_.objects_);
      if (!called.ok()) {
        std::move(done_)(called.status());
        return;
      }
      if (*called) {
        admission_.Ask(webhooks_[next_], *write_, object_, WebhookKind::kMutating,
                       [self = shared_from_this()](absl::StatusOr<Verdict> verdict) {
                         self->Take(std::move(verdict));
                       });
        return;
      }
      ++next_;
    }
    std::move(done_)(std::move(object_));
  }

 private:
  void Take(absl::StatusOr<Verdict> verdict) {
    const Webhook& webhook = webhooks_[next_];
    const Json::Value before = object_;
    absl::Status status = verdict.ok() ? Apply(webhook, *verdict) : verdict.status();
    write_->request->notes->annotations[Place("mutation", next_)] = StrCat(
        R"({"configuration":)", rbac::Quote(webhook.configuration), R"(,"webhook":)",
        rbac::Quote(webhook.name), R"(,"mutated":)", object_ == before ? "false" : "true", "}");
    if (!status.ok() && !ApiStatus(status)) {
      if (!webhook.ignore_failure) {
        std::move(done_)(InternalError(AsStd(status.message())));
        return;
      }
      write_->request->notes->annotations[Place("failed-open.mutation", next_)] = webhook.name;
      status = absl::OkStatus();
    }
    if (!status.ok()) {
      std::move(done_)(status);
      return;
    }
    ++next_;
    Go();
  }

  absl::Status Apply(const Webhook& webhook, const Verdict& verdict) {
    Note(*write_, webhook, verdict);
    if (!verdict.allowed) return Denied(webhook.name, verdict);
    if (verdict.patch.empty()) return absl::OkStatus();
    if (object_.isNull()) {
      return InternalError(StrCat("admission webhook ", rbac::Quote(webhook.name),
                                  " attempted to modify the object, which is not supported for "
                                  "this operation"));
    }
    if (verdict.patch_type != "JSONPatch") {
      return FailedCalling(webhook,
                           StrCat("unsupported patch type ", rbac::Quote(verdict.patch_type)));
    }
    auto patched = ApplyJsonPatch(object_, verdict.patch);
    if (!patched.ok()) return InternalError(AsStd(patched.status().message()));
    object_ = *std::move(patched);
    return absl::OkStatus();
  }

  Admission& admission_;
  const std::shared_ptr<const WriteAttributes> write_;
  const std::vector<Webhook> webhooks_;
  Json::Value object_;
  WriteHooks::Mutated done_;
  size_t next_ = 0;
};

// One write before the validating webhooks.
class Admission::Validation : public std::enable_shared_from_this<Validation> {
 public:
  Validation(Admission& admission, std::shared_ptr<const WriteAttributes> write,
             WriteHooks::Checked done)
      : admission_(admission), write_(std::move(write)), done_(std::move(done)) {}

  void Go() {
    for (Webhook& webhook : ReadWebhooks(admission_.objects_, WebhookKind::kValidating)) {
      const auto called = IsCalled(webhook, *write_, write_->object, admission_.objects_);
      if (!called.ok()) {
        std::move(done_)(called.status());
        return;
      }
      if (*called) webhooks_.push_back(std::move(webhook));
    }
    pending_ = webhooks_.size();
    if (pending_ == 0) {
      std::move(done_)(absl::OkStatus());
      return;
    }
    for (size_t i = 0; i < webhooks_.size(); ++i) {
      admission_.Ask(webhooks_[i], *write_, write_->object, WebhookKind::kValidating,
                     [self = shared_from_this(), i](absl::StatusOr<Verdict> verdict) {
                       self->Take(i, std::move(verdict));
                     });
    }
  }

 private:
  void Take(size_t index, absl::StatusOr<Verdict> verdict) {
    const Webhook& webhook = webhooks_[index];
    absl::Status status = verdict.status();
    if (verdict.ok()) {
      Note(*write_, webhook, *verdict);
      if (!verdict->allowed) status = Denied(webhook.name, *verdict);
    } else if (!ApiStatus(status)) {
      if (webhook.ignore_failure) {
        write_->request->notes->annotations[Place("failed-open.validating", index)] = webhook.name;
        status = absl::OkStatus();
      } else {
        status = InternalError(AsStd(status.message()));
      }
    }
    // All are heard; the first refusal counts.
    if (refusal_.ok()) refusal_ = status;
    if (--pending_ == 0) std::move(done_)(refusal_);
  }

  Admission& admission_;
  const std::shared_ptr<const WriteAttributes> write_;
  WriteHooks::Checked done_;
  std::vector<Webhook> webhooks_;
  size_t pending_ = 0;
  absl::Status refusal_;
};

void Admission::Mutate(std::shared_ptr<const WriteAttributes> write, Json::Value object,
                       WriteHooks::Mutated done) {
  std::make_shared<Mutation>(*this, std::move(write), std::move(object), std::move(done))->Go();
}

void Admission::Validate(std::shared_ptr<const WriteAttributes> write, WriteHooks::Checked done) {
  std::make_shared<Validation>(*this, std::move(write), std::move(done))->Go();
}

}  // namespace mandate::apiserver
