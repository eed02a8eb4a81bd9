#include "hack/e2e/webhooks/parcel_converter.h"

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "manager/core/strings.h"

namespace mandate {

absl::Status ParcelConverter::ToHub(const e2e::v1beta1::Parcel& from, e2e::v1::Parcel& to) {
  to.mutable_spec()->set_to(from.spec().to());
  if (!from.spec().has_weight()) return absl::OkStatus();
  absl::string_view digits = from.spec().weight();
  const int64_t unit = absl::ConsumeSuffix(&digits, "kg") ? 1000 : 1;
  int64_t count = 0;
  if ((unit == 1 && !absl::ConsumeSuffix(&digits, "g")) || !absl::SimpleAtoi(digits, &count)) {
    return absl::InvalidArgumentError(
        StrCat("spec.weight: \"", from.spec().weight(), "\" must be a number of g or kg"));
  }
  to.mutable_spec()->set_grams(count * unit);
  return absl::OkStatus();
}

absl::Status ParcelConverter::FromHub(const e2e::v1::Parcel& from, e2e::v1beta1::Parcel& to) {
  to.mutable_spec()->set_to(from.spec().to());
  if (!from.spec().has_grams()) return absl::OkStatus();
  const int64_t grams = from.spec().grams();
  to.mutable_spec()->set_weight(grams % 1000 == 0 ? StrCat(grams / 1000, "kg")
                                                  : StrCat(grams, "g"));
  return absl::OkStatus();
}

}  // namespace mandate
