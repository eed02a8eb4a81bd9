// Read by ThreadSanitizer's runtime at start; without it, a function that nobody calls.
extern "C" const char* __tsan_default_suppressions();

// Debian's abseil counts references to a status with atomics that ThreadSanitizer does not see, so
// whoever frees the last one seems to race with the others.
extern "C" const char* __tsan_default_suppressions() {
  return "race:absl::debian3::Status::UnrefNonInlined\n";
}
