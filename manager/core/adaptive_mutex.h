// A mutex for critical sections that are shorter than the time to sleep and wake up.
#pragma once

#include <pthread.h>

#include "absl/base/thread_annotations.h"

namespace mandate {

// A thread that finds it locked spins for a moment (glibc: at most 100 tries, and fewer if spinning
// did not help before) and then sleeps. Thread-safe.
class ABSL_LOCKABLE AdaptiveMutex {
 public:
  AdaptiveMutex() = default;
  AdaptiveMutex(const AdaptiveMutex&) = delete;
  AdaptiveMutex& operator=(const AdaptiveMutex&) = delete;
  ~AdaptiveMutex() { pthread_mutex_destroy(&mutex_); }

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { pthread_mutex_lock(&mutex_); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
};

class ABSL_SCOPED_LOCKABLE AdaptiveMutexLock {
 public:
  explicit AdaptiveMutexLock(AdaptiveMutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex) {
    mutex_.Lock();
  }
  ~AdaptiveMutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.Unlock(); }
  AdaptiveMutexLock(const AdaptiveMutexLock&) = delete;
  AdaptiveMutexLock& operator=(const AdaptiveMutexLock&) = delete;

 private:
  AdaptiveMutex& mutex_;
};

}  // namespace mandate
