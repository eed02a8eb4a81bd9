// How OpenSSL holds what it has decrypted.
#pragma once

#include <openssl/ssl.h>

namespace mandate {

// The connections of the context keep their read buffer of 17 KB while they are open, and overwrite
// what has been read from it, so that no plaintext stays there. libcurl lets OpenSSL free the
// buffer after each record instead, and then all of it is overwritten (core/freed_memory.h) for an
// event of a few hundred bytes. To be called before the first connection.
void KeepReadBuffers(SSL_CTX* context);

}  // namespace mandate
