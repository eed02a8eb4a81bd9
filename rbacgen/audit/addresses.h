// IP addresses as they appear in an audit log.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mandate::rbacgen {

// An IP address or a range of addresses: "10.0.0.7", "10.0.0.0/8", "fd00::/8". Immutable.
class AddressRange {
 public:
  // nullopt if the text is not an address or CIDR (RFC 4632, RFC 4291).
  static std::optional<AddressRange> Parse(std::string_view text);

  bool Contains(const AddressRange& address) const;
  bool is_v6() const { return v6_; }

 private:
  std::array<unsigned char, 16> bytes_ = {};
  int bits_ = 0;
  bool v6_ = false;
};

// Whether the two addresses cannot belong to one process: they are of one family, differ, and are
// not both `allowed`. A host has one address of each family.
bool AreElsewhere(const std::string& a, const std::string& b,
                  const std::vector<AddressRange>& allowed);

}  // namespace mandate::rbacgen
