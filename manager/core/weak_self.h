// Callbacks that do nothing after their owner was destroyed.
//
//   class Fetcher {
//     void Fetch() {
//       source_.Fetch(weak_.Bind([this](Result result) { OnResult(std::move(result)); }));
//     }
//     WeakSelf weak_;
//   };
#pragma once

#include <memory>
#include <utility>

namespace mandate {

// A member of the owner. The owner must be destroyed on the thread on which the callbacks run: they
// check whether it still exists, and do not keep it alive. Bind() may be called on any thread.
class WeakSelf {
 public:
  WeakSelf() = default;
  WeakSelf(const WeakSelf&) = delete;
  WeakSelf& operator=(const WeakSelf&) = delete;

  // `callback` as long as the owner exists; afterwards it does nothing.
  template <class Callback>
  auto Bind(Callback callback) const {
    return [alive = std::weak_ptr(alive_), callback = std::move(callback)](auto&&... args) mutable {
      if (!alive.expired()) callback(std::forward<decltype(args)>(args)...);
    };
  }

  // The same for a callback with a result. After the owner was destroyed, the result is
  // `gone(args…)`.
  template <class Callback, class Gone>
  auto BindOr(Callback callback, Gone gone) const {
    return [alive = std::weak_ptr(alive_), callback = std::move(callback),
            gone = std::move(gone)](auto&&... args) mutable {
      return alive.expired() ? gone(std::forward<decltype(args)>(args)...)
                             : callback(std::forward<decltype(args)>(args)...);
    };
  }

  // Disables the callbacks that were bound so far, as destruction does.
  void Reset() { alive_ = std::make_shared<const char>(); }

 private:
  std::shared_ptr<const char> alive_ = std::make_shared<const char>();
};

}  // namespace mandate
