// What a mandate lets a typed call do, asked of the compiler.
#ifndef MANAGER_CLIENT_PERMISSION_H_
#define MANAGER_CLIENT_PERMISSION_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "manager/object/kind.h"
#include "manager/rbac/mandate.h"

namespace mandate {

// A string literal as a template argument, so that error messages show it.
template <size_t N>
struct FixedString {
  char text[N] = {};
  constexpr FixedString(const char (&literal)[N]) { std::copy_n(literal, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

// Not satisfied: the component's source lacks the marker
//   // +kubebuilder:rbac:groups=GROUP,resources=PLURAL[/SUBRESOURCE],verbs=VERB
// for T's group and plural. Namespaces and names of a rule are checked when the call is made.
template <const rbac::Mandate& kMandate, class T, FixedString kVerb, FixedString kSubresource = "">
concept MandateDeclares = Object<T> && rbac::Permits(kMandate, kVerb.view(), KindOf<T>::value.group,
                                                     KindOf<T>::value.plural, kSubresource.view());

// An object decoded from JSON lost the fields that we do not know: sent back whole, they would be
// lost for everybody. Custom resources change by Apply and Patch.
template <class T>
concept KeepsUnknownFields = Object<T> && KindOf<T>::value.encoding == Encoding::kProtobuf;

// One for each typed call, to be written as template <MayGet<kMandate> T>.
template <class T, const rbac::Mandate& kMandate>
concept MayGet = MandateDeclares<kMandate, T, "get">;
template <class T, const rbac::Mandate& kMandate>
concept MayList = MandateDeclares<kMandate, T, "list">;
template <class T, const rbac::Mandate& kMandate>
concept MayCreate = MandateDeclares<kMandate, T, "create">;
template <class T, const rbac::Mandate& kMandate>
concept MayUpdate = MandateDeclares<kMandate, T, "update"> && KeepsUnknownFields<T>;
template <class T, const rbac::Mandate& kMandate>
concept MayUpdateStatus = MandateDeclares<kMandate, T, "update", "status"> && KeepsUnknownFields<T>;
template <class T, const rbac::Mandate& kMandate>
concept MayPatch = MandateDeclares<kMandate, T, "patch">;
template <class T, const rbac::Mandate& kMandate>
concept MayPatchStatus = MandateDeclares<kMandate, T, "patch", "status">;
// The server authorizes an apply to an object that is not there as create.
template <class T, const rbac::Mandate& kMandate>
concept MayApply = MandateDeclares<kMandate, T, "patch"> && MandateDeclares<kMandate, T, "create">;
template <class T, const rbac::Mandate& kMandate>
concept MayDelete = MandateDeclares<kMandate, T, "delete">;

}  // namespace mandate

#endif  // MANAGER_CLIENT_PERMISSION_H_
