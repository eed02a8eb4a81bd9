// Checks at compile time which typed calls a mandate permits.
//
//   template <Object T>
//   IfDeclared<kMandate, T, "get", "", absl::StatusOr<T>> Get(…);
//
// is a call that returns absl::StatusOr<T>, or one that does not compile because its result is
//
//   MISSING_MARKER<"scope-instance", "get", "Secret",
//                  "// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get">
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "manager/object/kind.h"
#include "manager/rbac/mandate.h"
#include "manager/rbac/marker.h"

namespace mandate {

// A string as a template argument, so that compiler errors show it.
template <size_t N>
struct FixedString {
  char text[N] = {};

  constexpr FixedString() = default;
  constexpr FixedString(const char (&literal)[N]) { std::copy_n(literal, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

// `N` is the text's size plus 1.
template <size_t N>
consteval FixedString<N> Fixed(std::string_view text) {
  FixedString<N> fixed;
  std::copy_n(text.data(), N - 1, fixed.text);
  return fixed;
}

// Namespaces and names of a rule are checked at run time.
template <const rbac::Mandate& kMandate, class T, FixedString kVerb, FixedString kSubresource = "">
concept MandateDeclares = Watchable<T> &&
    rbac::PermitsSomewhere(kMandate, kVerb.view(), KindOf<T>::value.group, KindOf<T>::value.plural,
                           kSubresource.view());

// An object decoded from JSON has lost the fields that we do not know: sent back whole, it would
// remove them for everybody. Custom resources change by Apply and Patch.
template <class T>
concept KeepsUnknownFields = Object<T> && KindOf<T>::value.encoding == Encoding::kProtobuf;

// Never defined: its name appears in the compiler's error. The component's source lacks the marker
// for these verbs of this kind ("list;watch"); add it to declare the call.
template <FixedString kComponent, FixedString kVerbs, FixedString kKind, FixedString kMarker>
struct MISSING_MARKER;

namespace permission_internal {

struct Counter {
  size_t size = 0;
  constexpr void append(std::string_view text) { size += text.size(); }
};

struct Writer {
  char* at;
  constexpr void append(std::string_view text) { at = std::copy(text.begin(), text.end(), at); }
};

template <const rbac::Mandate& kMandate, class T, FixedString kVerbs, FixedString kSubresource,
          rbac::MarkerReach kReach = rbac::MarkerReach::kCluster>
struct Missing {
  static constexpr KindInfo kKind = KindOf<T>::value;

  static consteval void Append(auto& out) {
    rbac::AppendMarker(out, kKind.group, kKind.plural, kSubresource.view(), kVerbs.view(), kReach);
  }
  static consteval size_t Size() {
    Counter counter;
    Append(counter);
    return counter.size + 1;
  }
  static consteval auto Marker() {
    FixedString<Size()> text;
    Writer writer{text.text};
    Append(writer);
    return text;
  }

  using type = MISSING_MARKER<Fixed<kMandate.component.size() + 1>(kMandate.component), kVerbs,
                              Fixed<kKind.kind.size() + 1>(kKind.kind), Marker()>;
};

template <bool kDeclared, class Result, class Otherwise>
struct If {
  using type = Result;
};
template <class Result, class Otherwise>
struct If<false, Result, Otherwise> {
  using type = typename Otherwise::type;
};

}  // namespace permission_internal

// `Result` if the mandate declares the verb, otherwise a MISSING_MARKER.
template <const rbac::Mandate& kMandate, class T, FixedString kVerb, FixedString kSubresource,
          class Result>
using IfDeclared = typename permission_internal::If<
    MandateDeclares<kMandate, T, kVerb, kSubresource>, Result,
    permission_internal::Missing<kMandate, T, kVerb, kSubresource>>::type;

}  // namespace mandate
