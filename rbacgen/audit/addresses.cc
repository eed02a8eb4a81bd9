#include "rbacgen/audit/addresses.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace mandate::rbacgen {

std::optional<AddressRange> AddressRange::Parse(std::string_view text) {
  AddressRange range;
  const size_t slash = text.find('/');
  const std::string address(text.substr(0, slash));
  range.v6_ = address.find(':') != address.npos;
  if (inet_pton(range.v6_ ? AF_INET6 : AF_INET, address.c_str(), range.bytes_.data()) != 1) {
    return std::nullopt;
  }
  const int all = range.v6_ ? 128 : 32;
  range.bits_ = all;
  if (slash == text.npos) return range;
  const std::string_view bits = text.substr(slash + 1);
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), range.bits_);
  if (error != std::errc() || end != bits.data() + bits.size() || range.bits_ < 0 ||
      range.bits_ > all) {
    return std::nullopt;
  }
  return range;
}

bool AddressRange::Contains(const AddressRange& address) const {
  if (v6_ != address.v6_ || address.bits_ < bits_) return false;
  for (int i = 0; i < bits_; ++i) {
    const unsigned char mask = 0x80 >> (i % 8);
    if ((bytes_[i / 8] & mask) != (address.bytes_[i / 8] & mask)) return false;
  }
  return true;
}

bool AreElsewhere(const std::string& a, const std::string& b,
                  const std::vector<AddressRange>& allowed) {
  if (a.empty() || b.empty() || a == b) return false;
  const auto first = AddressRange::Parse(a), second = AddressRange::Parse(b);
  if (!first || !second || first->is_v6() != second->is_v6()) return false;
  const auto is_allowed = [&](const AddressRange& address) {
    return std::ranges::any_of(allowed, [&](const auto& range) { return range.Contains(address); });
  };
  return !(first->Contains(*second) || (is_allowed(*first) && is_allowed(*second)));
}

}  // namespace mandate::rbacgen
