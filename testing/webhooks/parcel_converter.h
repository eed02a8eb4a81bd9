// Parcels: a kind with two versions, and its conversion.
#ifndef TESTING_WEBHOOKS_PARCEL_CONVERTER_H_
#define TESTING_WEBHOOKS_PARCEL_CONVERTER_H_

#include "manager/admission/conversion.h"
#include "manager/object/kind.h"
#include "testing/webhooks/v1/parcel.pb.h"
#include "testing/webhooks/v1beta1/parcel.pb.h"

namespace mandate {

namespace parcels = testing::webhooks;

template <>
struct KindOf<parcels::v1::Parcel> {
  static constexpr KindInfo value{"webhooks.example.com", "v1", "Parcel", "parcels"};
};
template <>
struct KindOf<parcels::v1beta1::Parcel> {
  static constexpr KindInfo value{"webhooks.example.com", "v1beta1", "Parcel", "parcels"};
};

// A weight that is neither "12g" nor "3kg" cannot be converted. Whole kilograms are written as
// such.
class ParcelConverter : public Converter<parcels::v1::Parcel, parcels::v1beta1::Parcel> {
 public:
  absl::Status ToHub(const parcels::v1beta1::Parcel& from, parcels::v1::Parcel& to) override;
  absl::Status FromHub(const parcels::v1::Parcel& from, parcels::v1beta1::Parcel& to) override;
};

}  // namespace mandate

#endif  // TESTING_WEBHOOKS_PARCEL_CONVERTER_H_
