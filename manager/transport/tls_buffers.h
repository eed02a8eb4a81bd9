// How OpenSSL and those who read from it hold what has been decrypted.
//
// A program that links this has an SSL_read() of its own, which libcurl calls, too. It is
// OpenSSL's, and overwrites what the read before has left behind the bytes of this one. libcurl
// reads all responses of a connection into one buffer of 32 KiB: without this, the end of a large
// response stays there until another one is as large, perhaps for days.
//
// It has an OPENSSL_cleanse() of its own, too, which libssl calls for each record: OpenSSL's
// overwrites eight bytes at a time.
#pragma once

#include <openssl/ssl.h>

namespace mandate {

// The connections of the context keep their read buffer of 17 KB while they are open, and overwrite
// what has been read from it, so that no plaintext stays there. libcurl lets OpenSSL free the
// buffer after each record instead, and then all of it is overwritten (core/freed_memory.h) for an
// event of a few hundred bytes. To be called before the first connection.
void KeepReadBuffers(SSL_CTX* context);

}  // namespace mandate
