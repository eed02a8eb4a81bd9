#include "manager/admission/conversion.h"

#include <jsoncpp/json/json.h>

#include "manager/admission/review_envelope.h"
#include "manager/core/printable.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/json_cursor.h"

namespace mandate {
namespace {

constexpr std::string_view kApiVersion = "apiextensions.k8s.io/v1";

absl::Status ReadRequest(std::string_view text, ConversionRequest& request) {
  std::string_view uid, version, key;
  JsonCursor json(text);
  for (json.BeginObject(); json.NextMember(&key);) {
    if (key == "uid") {
      json.ReadString(&uid);
      request.uid = uid;
    } else if (key == "desiredAPIVersion") {
      json.ReadString(&version);
      request.desired_api_version = version;
    } else if (key == "objects") {
      std::string_view object;
      for (json.BeginArray(); json.NextElement();) {
        json.SkipValue(&object);
        request.objects.emplace_back(object);
      }
    } else {
      json.SkipValue();
    }
  }
  return json.Finish();
}

// The metadata of the original, with the labels and annotations of the converted object: a
// conversion must not change anything else, also what our types do not know.
void KeepMetadata(const Json::Value& original, Json::Value& converted) {
  Json::Value metadata = original["metadata"];
  for (const char* key : {"labels", "annotations"}) {
    metadata.removeMember(key);
    if (converted["metadata"].isMember(key)) metadata[key] = converted["metadata"][key];
  }
  converted["metadata"] = std::move(metadata);
}

std::string Text(const Json::Value& value) { return value.isString() ? value.asString() : ""; }

std::string NameOf(const Json::Value& object) {
  const std::string ns = Text(object["metadata"]["namespace"]);
  return StrCat(Text(object["kind"]), " ", ns, ns.empty() ? "" : "/",
                Text(object["metadata"]["name"]));
}

// etcd stores 1.5 MiB of an object by default, which hold fewer objects and arrays: an object that
// is stored must be converted, or lists of its kind fail. A hostile review may have millions.
constexpr JsonLimits kStorable = {.max_depth = kMaxRecursion, .max_containers = 800'000};

}  // namespace

absl::StatusOr<ConversionRequest> ParseConversionReview(std::string_view body) {
  ASSIGN_OR_RETURN(const ReviewEnvelope review, ReadReviewEnvelope(body));
  if (review.kind != "ConversionReview" || review.api_version != kApiVersion) {
    return absl::InvalidArgumentError(StrCat("the body is \"", review.kind, "\" of \"",
                                             review.api_version,
                                             "\"; it must be a ConversionReview of ", kApiVersion));
  }
  if (review.request.empty()) {
    return absl::InvalidArgumentError("the ConversionReview has no request");
  }
  ConversionRequest request;
  if (const absl::Status status = ReadRequest(review.request, request); !status.ok()) {
    return absl::InvalidArgumentError(StrCat("request: ", AsStd(status.message())));
  }
  if (request.uid.empty()) {
    return absl::InvalidArgumentError("request.uid: missing in the ConversionReview");
  }
  if (request.desired_api_version.empty()) {
    return absl::InvalidArgumentError("request.desiredAPIVersion: missing in the ConversionReview");
  }
  return request;
}

std::string WriteConversionReview(std::string_view uid,
                                  const absl::StatusOr<std::vector<std::string>>& converted) {
  std::string text = StrCat(R"({"kind":"ConversionReview","apiVersion":")", kApiVersion,
                            R"(","response":{"uid":)");
  AppendJsonString(uid, text);
  if (!converted.ok()) {
    StrAppend(&text, R"(,"convertedObjects":[],"result":{"status":"Failure","message":)");
    AppendJsonString(AsStd(converted.status().message()), text);
    return text + "}}}";
  }
  StrAppend(&text, R"(,"convertedObjects":[)");
  for (size_t i = 0; i < converted->size(); ++i) {
    StrAppend(&text, i == 0 ? "" : ",", (*converted)[i]);
  }
  return text + R"(],"result":{"status":"Success"}}})";
}

absl::StatusOr<const Conversions::Version*> Conversions::Find(const std::string& api_version,
                                                              const std::string& kind) const {
  const auto found = versions_.find({api_version, kind});
  if (found != versions_.end()) return &found->second;
  return absl::InvalidArgumentError(
      StrCat("there is no conversion of ", kind, " of ", api_version));
}

absl::StatusOr<std::string> Conversions::ConvertOne(std::string_view object,
                                                    const std::string& api_version) const {
  ASSIGN_OR_RETURN(const Json::Value original, ParseJson(object, kStorable));
  if (!original.isObject() || !original["apiVersion"].isString() || !original["kind"].isString() ||
      !original["metadata"].isObject()) {
    return absl::InvalidArgumentError("an object must have apiVersion, kind and metadata");
  }
  const auto named = [&](const absl::Status& status) {
    return absl::Status(status.code(), StrCat(NameOf(original), ": ", AsStd(status.message())));
  };
  const auto from = Find(original["apiVersion"].asString(), original["kind"].asString());
  if (!from.ok()) return named(from.status());
  const auto to = Find(api_version, original["kind"].asString());
  if (!to.ok()) return named(to.status());
  if (*from == *to) return std::string(object);

  std::unique_ptr<Message> message = (*from)->make();
  if (const absl::Status read = FromJson(object, *message); !read.ok()) return named(read);
  for (const auto& step : {(*from)->to_hub, (*to)->from_hub}) {
    if (step == nullptr) continue;
    MadeMessage made = step(*message);
    if (!made.ok()) return named(made.status());
    message = *std::move(made);
  }
  ASSIGN_OR_RETURN(const std::string text, ToJson(*message, &(*to)->kind));
  ASSIGN_OR_RETURN(Json::Value converted, ParseJson(text));
  KeepMetadata(original, converted);
  return WriteJson(converted);
}

absl::StatusOr<std::vector<std::string>> Conversions::Convert(
    const ConversionRequest& request) const {
  std::vector<std::string> converted;
  converted.reserve(request.objects.size());
  for (const std::string& object : request.objects) {
    ASSIGN_OR_RETURN(std::string made, ConvertOne(object, request.desired_api_version));
    converted.push_back(std::move(made));
  }
  return converted;
}

}  // namespace mandate
