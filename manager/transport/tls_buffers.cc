#include "manager/transport/tls_buffers.h"

#include <dlfcn.h>
#include <openssl/crypto.h>

#include <cstdint>
#include <cstring>

namespace mandate {
namespace {

// Where each connection has the size of its last read.
int LastSizeIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

// `buffer` has room for `room` bytes, and a read has just written `size` of them. What is behind
// these can only be left from a read before, since this one might have written it, too.
void EraseWhatIsLeft(SSL* connection, char* buffer, size_t room, size_t size) {
  const auto last = reinterpret_cast<uintptr_t>(SSL_get_ex_data(connection, LastSizeIndex()));
  // A later read with more room overwrites what is beyond this one's.
  const size_t now = last > room ? last : size;
  if (last != now) {
    SSL_set_ex_data(connection, LastSizeIndex(), reinterpret_cast<void*>(now));
  }
  const size_t left = last < room ? last : room;
  if (left > size) OPENSSL_cleanse(buffer + size, left - size);
}

}  // namespace

void KeepReadBuffers(SSL_CTX* context) {
  SSL_CTX_clear_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context, SSL_OP_CLEANSE_PLAINTEXT);
}

}  // namespace mandate

// The only place at which somebody else than libcurl sees its buffer.
extern "C" int SSL_read(SSL* connection, void* buffer, int room) {
  using Read = int(SSL*, void*, int);
  static Read* const openssl = reinterpret_cast<Read*>(dlsym(RTLD_NEXT, "SSL_read"));
  const int size = openssl(connection, buffer, room);
  if (size > 0) {
    mandate::EraseWhatIsLeft(connection, static_cast<char*>(buffer), static_cast<size_t>(room),
                             static_cast<size_t>(size));
  }
  return size;
}

extern "C" void OPENSSL_cleanse(void* block, size_t size) { explicit_bzero(block, size); }
