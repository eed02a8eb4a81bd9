// Parcels: a kind with two versions, and its conversion.
#pragma once

#include "hack/e2e/webhooks/v1/parcel.pb.h"
#include "hack/e2e/webhooks/v1beta1/parcel.pb.h"
#include "manager/admission/conversion.h"
#include "manager/object/kind.h"

namespace mandate {

template <>
struct KindOf<e2e::v1::Parcel> {
  static constexpr KindInfo value{"webhooks.example.com", "v1", "Parcel", "parcels"};
};
template <>
struct KindOf<e2e::v1beta1::Parcel> {
  static constexpr KindInfo value{"webhooks.example.com", "v1beta1", "Parcel", "parcels"};
};

// A weight that is neither "12g" nor "3kg" cannot be converted. Whole kilograms are written as
// such.
class ParcelConverter : public Converter<e2e::v1::Parcel, e2e::v1beta1::Parcel> {
 public:
  absl::Status ToHub(const e2e::v1beta1::Parcel& from, e2e::v1::Parcel& to) override;
  absl::Status FromHub(const e2e::v1::Parcel& from, e2e::v1beta1::Parcel& to) override;
};

}  // namespace mandate
