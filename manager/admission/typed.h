// Webhooks for one type: a Validator checks objects, a Defaulter completes them.
//
//   class WidgetValidator : public Validator<Widget> {
//     absl::Status ValidateCreate(AdmissionCall& call, const Widget& widget) override { … }
//   };
//   Webhooks webhooks;
//   webhooks.hooks.push_back(ValidatingWebhook<Widget>(std::make_shared<WidgetValidator>(…)));
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "manager/admission/admission_call.h"
#include "manager/admission/webhook.h"
#include "manager/object/json_codec.h"
#include "manager/object/kind.h"

namespace mandate {

// The type of an object, or of the options of a CONNECT request, such as PodExecOptions.
template <class T>
concept AdmissionType = std::derived_from<T, google::protobuf::Message> && requires {
  { KindOf<T>::value } -> std::convertible_to<KindInfo>;
};

// A status that is not OK denies the write (SetVerdict). The functions are called from several
// threads at once.
template <AdmissionType T>
class Validator {
 public:
  virtual ~Validator() = default;
  virtual absl::Status ValidateCreate(AdmissionCall&, const T& /*object*/) {
    return absl::OkStatus();
  }
  virtual absl::Status ValidateUpdate(AdmissionCall&, const T& /*old_object*/,
                                      const T& /*object*/) {
    return absl::OkStatus();
  }
  virtual absl::Status ValidateDelete(AdmissionCall&, const T& /*object*/) {
    return absl::OkStatus();
  }
  virtual absl::Status ValidateConnect(AdmissionCall&, const T& /*options*/) {
    return absl::OkStatus();
  }
};

// Completes an object that is created or updated. It is called from several threads at once.
template <Object T>
class Defaulter {
 public:
  virtual ~Defaulter() = default;
  virtual absl::Status Default(AdmissionCall& call, T& object) = 0;
};

namespace internal {

// The review's object, or its old object; an error is a 400. Members that the type does not know
// are ignored.
absl::Status ReadObject(std::string_view json, std::string_view which, const KindInfo& kind,
                        google::protobuf::Message& out);

// Puts a JSON patch from `before` to `after`, for the object of the review, into the response.
absl::Status SetPatch(const google::protobuf::Message& before,
                      const google::protobuf::Message& after, AdmissionCall& call);

template <AdmissionType T>
bool Read(bool old, AdmissionCall& call, T& out) {
  const AdmissionRequest& request = call.request();
  const absl::Status status = ReadObject(old ? request.oldobject().raw() : request.object().raw(),
                                         old ? "oldObject" : "object", KindOf<T>::value, out);
  if (!status.ok()) SetErrorResponse(400, status, call);
  return status.ok();
}

}  // namespace internal

template <AdmissionType T>
Webhook ValidatingWebhook(std::shared_ptr<Validator<T>> validator) {
  return {.path = WebhookPath(WebhookType::kValidating, KindOf<T>::value),
          .handler = [validator = std::move(validator)](AdmissionCall& call) {
            const std::string& operation = call.request().operation();
            T object, old_object;
            if (operation == "CREATE") {
              if (!internal::Read(false, call, object)) return;
              SetVerdict(validator->ValidateCreate(call, object), call);
            } else if (operation == "UPDATE") {
              if (!internal::Read(false, call, object)) return;
              if (!internal::Read(true, call, old_object)) return;
              SetVerdict(validator->ValidateUpdate(call, old_object, object), call);
            } else if (operation == "DELETE") {
              if (!internal::Read(true, call, old_object)) return;
              SetVerdict(validator->ValidateDelete(call, old_object), call);
            } else if (operation == "CONNECT") {
              if (!internal::Read(false, call, object)) return;
              SetVerdict(validator->ValidateConnect(call, object), call);
            } else {
              SetErrorResponse(400, UnknownOperation(operation), call);
            }
          }};
}

// Deletions are allowed without a call.
template <Object T>
Webhook DefaultingWebhook(std::shared_ptr<Defaulter<T>> defaulter) {
  return {.path = WebhookPath(WebhookType::kMutating, KindOf<T>::value),
          .handler = [defaulter = std::move(defaulter)](AdmissionCall& call) {
            if (call.request().operation() == "DELETE") return SetVerdict(absl::OkStatus(), call);
            T object;
            if (!internal::Read(false, call, object)) return;
            const T before = object;
            const absl::Status status = defaulter->Default(call, object);
            SetVerdict(status, call);
            if (!status.ok()) return;
            const absl::Status patched = internal::SetPatch(before, object, call);
            if (!patched.ok()) SetErrorResponse(500, patched, call);
          }};
}

}  // namespace mandate
