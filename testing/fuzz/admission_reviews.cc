// AdmissionReviews, the patches of a defaulter, and ConversionReviews. The input is the body of a
// request.
#include <memory>
#include <string>

#include "k8s.io/api/core/v1/generated.pb.h"
#include "manager/admission/conversion.h"
#include "manager/admission/review_answer.h"
#include "manager/admission/typed.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "testing/apiserver/patch.h"
#include "testing/fuzz/fuzz.h"

namespace mandate {

// Two versions of one kind: messages of Kubernetes stand in for them.
using Pod = ::k8s::io::api::core::v1::Pod;
using PodTemplate = ::k8s::io::api::core::v1::PodTemplate;
template <>
struct KindOf<Pod> {
  static constexpr KindInfo value{"", "v1", "Pod", "pods"};
};
template <>
struct KindOf<PodTemplate> {
  static constexpr KindInfo value{"", "v2", "Pod", "pods"};
};

namespace fuzz {
namespace {

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

class PodConverter : public Converter<Pod, PodTemplate> {
 public:
  absl::Status ToHub(const PodTemplate& from, Pod& to) override {
    *to.mutable_spec() = from.template_().spec();
    return absl::OkStatus();
  }
  absl::Status FromHub(const Pod& from, PodTemplate& to) override {
    *to.mutable_template_()->mutable_spec() = from.spec();
    return absl::OkStatus();
  }
};

// An answer has as many objects as the request, in the version that it asks for, with the names
// that they had.
void CheckConversion(const ConversionRequest& request) {
  Conversions conversions;
  conversions.Add(std::make_shared<PodConverter>());
  const auto converted = conversions.Convert(request);
  if (!converted.ok()) return;
  Require(converted->size() == request.objects.size(), "every object is converted");
  for (size_t i = 0; i < converted->size(); ++i) {
    const Json::Value before = ParseJson(request.objects[i]).value();
    const Json::Value after = ParseJson((*converted)[i]).value();
    Require(after["apiVersion"] == request.desired_api_version, "it is the wanted version");
    for (const std::string& name : before["metadata"].getMemberNames()) {
      if (name == "labels" || name == "annotations") continue;
      Require(after["metadata"][name] == before["metadata"][name], "metadata stays", name);
    }
  }
}

}  // namespace
}  // namespace fuzz
}  // namespace mandate

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate;
  using namespace mandate::fuzz;
  if (const auto conversion = ParseConversionReview(Text(data, size)); conversion.ok()) {
    CheckConversion(*conversion);
  }
  // The answer to any body is JSON.
  const Webhook none = ConversionWebhook(Conversions());
  for (const Webhook& webhook : {none, Webhook{"/p", [](AdmissionCall&) {}}}) {
    const auto answer =
        ParseJson(ReadReviewBody(webhook, "application/json", Text(data, size)).answer({}).body);
    Require(answer.ok(), "the answer is JSON", answer.status());
  }
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
