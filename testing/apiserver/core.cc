#include "testing/apiserver/core.h"

#include <string_view>
#include <utility>

#include "manager/object/time.h"

namespace mandate::apiserver {

std::string Core::Now() const { return FormatTimestamp(loop.clock().WallTimeNow()); }

std::string Core::NewUid() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string uid = "xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx";
  for (char& c : uid) {
    if (c == 'x') c = kDigits[random() % kDigits.size()];
  }
  return uid;
}

std::string Core::NewSuffix() {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kAlphabet[random() % kAlphabet.size()];
  return suffix;
}

void Core::Post(std::function<void()> task) { loop.Post(weak.Bind(std::move(task))); }

}  // namespace mandate::apiserver
