// ConversionReview (apiextensions.k8s.io/v1): the API server asks for custom objects in another
// version.
//
//   class WidgetConverter : public Converter<v1::Widget, v1alpha1::Widget> {
//     absl::Status ToHub(const v1alpha1::Widget& from, v1::Widget& to) override { … }
//     absl::Status FromHub(const v1::Widget& from, v1alpha1::Widget& to) override { … }
//   };
//   Conversions conversions;
//   conversions.Add(std::make_shared<WidgetConverter>());
//   webhooks.hooks.push_back(ConversionWebhook(std::move(conversions)));
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "manager/object/kind.h"

namespace mandate {

struct ConversionRequest {
  std::string uid;
  std::string desired_api_version;   // "example.com/v1"
  std::vector<std::string> objects;  // JSON
};

// kInvalidArgument: not JSON, not a ConversionReview of v1, or without a request, its uid or its
// version. The message names the member.
absl::StatusOr<ConversionRequest> ParseConversionReview(std::string_view body);

// The whole review with the converted objects (JSON), in the order of the request, or with the
// reason why there are none.
std::string WriteConversionReview(std::string_view uid,
                                  const absl::StatusOr<std::vector<std::string>>& converted);

// Converts between the hub, the version that all others convert to, and one other version. Both
// functions set everything but metadata, which is copied before; of metadata they may change labels
// and annotations alone. They are called from several threads at once.
template <Object Hub, Object Spoke>
class Converter {
 public:
  using HubType = Hub;
  using SpokeType = Spoke;
  virtual ~Converter() = default;
  virtual absl::Status ToHub(const Spoke& from, Hub& to) = 0;
  virtual absl::Status FromHub(const Hub& from, Spoke& to) = 0;
};

// The conversions of kinds with several versions. Thread-safe when it is complete.
class Conversions {
 public:
  // Takes a Converter. Each hub with each of its other versions once.
  template <class C>
  void Add(std::shared_ptr<C> converter) {
    using Hub = typename C::HubType;
    using Spoke = typename C::SpokeType;
    static_assert(KindOf<Hub>::value.kind == KindOf<Spoke>::value.kind &&
                      KindOf<Hub>::value.group == KindOf<Spoke>::value.group,
                  "the hub and the spoke are versions of one kind");
    AddVersion<Hub>({.to_hub = nullptr, .from_hub = nullptr});
    AddVersion<Spoke>({.to_hub =
                           [converter](const Message& from) {
                             auto to = std::make_unique<Hub>();
                             *to->mutable_metadata() = static_cast<const Spoke&>(from).metadata();
                             const absl::Status status =
                                 converter->ToHub(static_cast<const Spoke&>(from), *to);
                             return Made(status, std::move(to));
                           },
                       .from_hub =
                           [converter](const Message& from) {
                             auto to = std::make_unique<Spoke>();
                             *to->mutable_metadata() = static_cast<const Hub&>(from).metadata();
                             const absl::Status status =
                                 converter->FromHub(static_cast<const Hub&>(from), *to);
                             return Made(status, std::move(to));
                           }});
  }

  // All objects of the request, in its order. An error names the object that cannot be converted.
  absl::StatusOr<std::vector<std::string>> Convert(const ConversionRequest& request) const;

 private:
  using Message = google::protobuf::Message;
  using MadeMessage = absl::StatusOr<std::unique_ptr<Message>>;
  // One version of a kind; the functions are null for the hub.
  struct Version {
    std::function<MadeMessage(const Message&)> to_hub, from_hub;
    KindInfo kind = {};
    std::function<std::unique_ptr<Message>()> make = nullptr;
  };

  template <class T>
  static MadeMessage Made(const absl::Status& status, std::unique_ptr<T> message) {
    if (!status.ok()) return status;
    return std::unique_ptr<Message>(std::move(message));
  }
  template <Object T>
  void AddVersion(Version version) {
    version.kind = KindOf<T>::value;
    version.make = [] { return std::make_unique<T>(); };
    versions_.emplace(std::pair(KindOf<T>::value.ApiVersion(), std::string(KindOf<T>::value.kind)),
                      std::move(version));
  }
  absl::StatusOr<std::string> ConvertOne(std::string_view object,
                                         const std::string& api_version) const;
  absl::StatusOr<const Version*> Find(const std::string& api_version,
                                      const std::string& kind) const;

  std::map<std::pair<std::string, std::string>, Version> versions_;  // by apiVersion and kind
};

}  // namespace mandate
