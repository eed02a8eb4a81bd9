// Runs a function on a loop and waits for its result.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "manager/core/executor.h"

namespace mandate {

// On the loop's own thread, runs it directly. Not after the loop stopped.
template <class F>
auto CallOnLoop(Loop& loop, F&& function) -> std::invoke_result_t<F> {
  using Result = std::invoke_result_t<F>;
  if (!loop.CanAwait()) return function();
  Latch done;
  if constexpr (std::is_void_v<Result>) {
    loop.Post([&] {
      function();
      done.Set();
    });
    loop.Await(done);
  } else {
    std::optional<Result> result;
    loop.Post([&] {
      result.emplace(function());
      done.Set();
    });
    loop.Await(done);
    return *std::move(result);
  }
}

}  // namespace mandate
