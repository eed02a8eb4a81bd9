// A string that must never be printed: tokens, keys.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

namespace mandate {

// Zeroed when destroyed. Not copyable, so that no copy outlives it. Immutable.
class Secret {
 public:
  explicit Secret(std::string value);
  ~Secret();
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  // The value itself. Use it only for the header of a request.
  std::string_view Reveal() const { return value_; }

  size_t size() const { return value_.size(); }
  bool empty() const { return value_.empty(); }
  // Compares in constant time.
  bool operator==(const Secret& other) const;

  friend std::ostream& operator<<(std::ostream&, const Secret&) = delete;

 private:
  void Wipe();
  std::string value_;
};

}  // namespace mandate
