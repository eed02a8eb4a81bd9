#include "manager/transport/tls_buffers.h"

namespace mandate {

void KeepReadBuffers(SSL_CTX* context) {
  SSL_CTX_clear_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context, SSL_OP_CLEANSE_PLAINTEXT);
}

}  // namespace mandate
