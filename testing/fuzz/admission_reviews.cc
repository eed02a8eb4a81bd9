// AdmissionReviews, and the patches of a defaulter. The input is the body of a request.
#include <memory>
#include <string>

#include "manager/admission/typed.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/kinds/core_v1.h"
#include "testing/apiserver/patch.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

using corev1::Pod;

// Changes a map, a list of objects and a number.
class Changes : public Defaulter<Pod> {
 public:
  absl::Status Default(AdmissionCall&, Pod& pod) override {
    (*pod.mutable_metadata()->mutable_labels())["a"] = "b";
    pod.mutable_metadata()->mutable_annotations()->erase("x");
    auto& containers = *pod.mutable_spec()->mutable_containers();
    if (!containers.empty()) containers.DeleteSubrange(0, 1);
    containers.Add()->set_name("sidecar");
    for (auto& container : containers) container.set_image("image");
    pod.mutable_spec()->set_priority(7);
    return absl::OkStatus();
  }
};

std::string TypedText(std::string_view json) {
  Pod pod;
  const absl::Status status = FromJson(json, pod);
  return status.ok() ? ToJson(pod).value_or("not JSON") : std::string(status.message());
}

void CheckPatch(const AdmissionRequest& request) {
  const Webhook webhook = DefaultingWebhook<Pod>(std::make_shared<Changes>());
  AdmissionCall call({}, request);
  webhook.handler(call);
  const AdmissionResponse& response = call.response();
  Require(response.allowed() == (response.status().code() == 200), "the code fits the verdict",
          response.status().code());
  if (response.patch().empty()) return;
  const Json::Value object = ParseJson(request.object().raw()).value();
  const auto patched = ApplyJsonPatch(object, ParseJson(response.patch()).value());
  Require(patched.ok(), "the patch applies", patched.status(), response.patch());
  Pod wanted;
  Require(FromJson(request.object().raw(), wanted).ok(), "the object was read");
  Changes changes;
  Require(changes.Default(call, wanted).ok(), "the defaulter works");
  Require(TypedText(WriteJson(*patched)) == ToJson(wanted).value(),
          "the patched object is the changed one", TypedText(WriteJson(*patched)),
          ToJson(wanted).value());
  for (const std::string& name : object.getMemberNames()) {
    if (name == "metadata" || name == "spec") continue;
    Require((*patched)[name] == object[name], "other members stay", name);
  }
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate;
  using namespace mandate::fuzz;
  const auto review = ParseAdmissionReview(Text(data, size));
  if (!review.ok()) return 0;
  CheckPatch(review->request);
  AdmissionResponse response;
  response.set_uid(review->request.uid());
  const auto written = ParseJson(WriteAdmissionReview(review->api_version, response));
  Require(written.ok(), "the answer is JSON", written.status());
  Require((*written)["response"]["uid"] == review->request.uid(), "the answer has the uid");
  return 0;
}
