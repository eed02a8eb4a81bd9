// The calls that a binary may make to an API server, written into the binary: each compiled typed
// call leaves an ELF note, which rbacgen/calls reads.
//
// The section ".note.mandate.calls" is a sequence of notes (System V ABI, "Note Section") in the
// byte order of the machine:
//
//   bytes  what
//   4      8: the size of the owner
//   4      224: the size of the text
//   4      1: the type, kCallNoteType
//   8      the owner: "Mandate", NUL
//   224    the text: component ("*" is each), verb, group ("" is core), resource and subresource
//          ("" is none), each ended by a NUL; NULs up to the end
//
// A call that is compiled in several places can leave several equal notes. Notes also come from the
// kinds that a controller is built to watch (controller/controller_builder.h), and from events,
// which the runtime writes for each component. Calls known only at run time leave none: demands of
// a DemandSpec, requests by RestClient.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mandate {

inline constexpr std::string_view kCallNoteSection = ".note.mandate.calls";
inline constexpr std::string_view kCallNoteOwner{"Mandate\0", 8};
inline constexpr uint32_t kCallNoteType = 1;
inline constexpr size_t kCallNoteText = 224;

}  // namespace mandate
