#include "manager/core/secret.h"

#include <string.h>

#include <utility>

namespace mandate {

Secret::Secret(std::string value) : value_(std::move(value)) {}

Secret::~Secret() { Wipe(); }

Secret::Secret(Secret&& other) noexcept : value_(other.value_) { other.Wipe(); }

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    Wipe();
    value_ = other.value_;
    other.Wipe();
  }
  return *this;
}

bool Secret::operator==(const Secret& other) const {
  if (value_.size() != other.value_.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < value_.size(); ++i) {
    difference |=
        static_cast<unsigned char>(value_[i]) ^ static_cast<unsigned char>(other.value_[i]);
  }
  return difference == 0;
}

void Secret::Wipe() {
  // The compiler may not drop explicit_bzero, unlike memset.
  explicit_bzero(value_.data(), value_.size());
  value_.clear();
}

}  // namespace mandate
