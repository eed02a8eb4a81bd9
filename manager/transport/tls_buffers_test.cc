#include "manager/transport/tls_buffers.h"

#include <dlfcn.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "manager/transport/testing/test_pki.h"

namespace mandate {
namespace {

constexpr std::string_view kPlaintext = "the-content-of-a-secret-that-nobody-may-find";
// More than anything else of a connection that is open.
constexpr size_t kRecordSize = 16 * 1024;

// OpenSSL's large blocks that are in use, and how many there have been.
std::map<void*, size_t> large_blocks;
size_t large_allocations = 0;

void Note(void* block, size_t size) {
  if (block == nullptr || size < kRecordSize) return;
  large_blocks[block] = size;
  ++large_allocations;
}

void Free(void* block) {
  large_blocks.erase(block);
  std::free(block);
}

class OpensslMemory : public ::testing::Environment {
 public:
  void SetUp() override {
    ASSERT_TRUE(accepted_) << "OpenSSL accepts these only before its first allocation";
  }

 private:
  const bool accepted_ = CRYPTO_set_mem_functions(
                             [](size_t size, const char*, int) {
                               void* const block = std::malloc(size);
                               Note(block, size);
                               return block;
                             },
                             [](void* block, size_t size, const char*, int) {
                               large_blocks.erase(block);
                               void* const moved = std::realloc(block, size);
                               Note(moved, size);
                               return moved;
                             },
                             [](void* block, const char*, int) { Free(block); }) == 1;
};
const auto* const kEnvironment = ::testing::AddGlobalTestEnvironment(new OpensslMemory());

bool PlaintextInLargeBlocks() {
  for (const auto& [block, size] : large_blocks) {
    const std::string_view bytes(static_cast<const char*>(block), size);
    if (bytes.find(kPlaintext) != std::string_view::npos) return true;
  }
  return false;
}

template <auto kFree>
struct Deleter {
  template <typename T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using Context = std::unique_ptr<SSL_CTX, Deleter<SSL_CTX_free>>;
using Connection = std::unique_ptr<SSL, Deleter<SSL_free>>;

Context ServerContext() {
  const KeyPair pair = TestCa().IssueServer({"DNS:localhost"});
  Context context(SSL_CTX_new(TLS_server_method()));
  const std::unique_ptr<BIO, Deleter<BIO_free>> certificate_text(
      BIO_new_mem_buf(pair.certificate_pem.data(), static_cast<int>(pair.certificate_pem.size())));
  const std::unique_ptr<X509, Deleter<X509_free>> certificate(
      PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr));
  const std::unique_ptr<BIO, Deleter<BIO_free>> key_text(
      BIO_new_mem_buf(pair.key_pem.data(), static_cast<int>(pair.key_pem.size())));
  const std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>> key(
      PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  EXPECT_EQ(SSL_CTX_use_certificate(context.get(), certificate.get()), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context.get(), key.get()), 1);
  return context;
}

// A server and a client of which each reads what the other has written.
class Pair {
 public:
  explicit Pair(SSL_CTX* client_context)
      : server_context_(ServerContext()),
        server_(SSL_new(server_context_.get())),
        client_(SSL_new(client_context)) {
    BIO* server_side = nullptr;
    BIO* client_side = nullptr;
    EXPECT_EQ(BIO_new_bio_pair(&server_side, 0, &client_side, 0), 1);
    SSL_set_bio(server_.get(), server_side, server_side);
    SSL_set_bio(client_.get(), client_side, client_side);
    SSL_set_accept_state(server_.get());
    SSL_set_connect_state(client_.get());
    for (int i = 0; i < 10; ++i) {
      SSL_do_handshake(client_.get());
      SSL_do_handshake(server_.get());
    }
    EXPECT_EQ(SSL_is_init_finished(client_.get()), 1);
    EXPECT_EQ(SSL_is_init_finished(server_.get()), 1);
  }

  void Send(std::string_view text) {
    const int size = static_cast<int>(text.size());
    ASSERT_EQ(SSL_write(server_.get(), text.data(), size), size);
  }
  // As much as has come and the buffer has room for.
  int Read(char* buffer, size_t room) {
    return SSL_read(client_.get(), buffer, static_cast<int>(room));
  }

  // One record, which the client reads in two parts.
  void SendAndRead() {
    const int size = static_cast<int>(kPlaintext.size());
    ASSERT_EQ(SSL_write(server_.get(), kPlaintext.data(), size), size);
    std::string read(kPlaintext.size(), '\0');
    ASSERT_EQ(SSL_read(client_.get(), read.data(), 10), 10);
    ASSERT_EQ(SSL_read(client_.get(), read.data() + 10, size), size - 10);
    ASSERT_EQ(read, kPlaintext);
  }

 private:
  const Context server_context_;
  const Connection server_;
  const Connection client_;
};

// How often OpenSSL gets a large block during ten records, after a first one.
size_t AllocationsOfTenRecords(Pair& pair) {
  pair.SendAndRead();
  const size_t before = large_allocations;
  for (int i = 0; i < 10; ++i) pair.SendAndRead();
  return large_allocations - before;
}

TEST(KeepReadBuffersTest, TheEnvironmentIsThere) { ASSERT_NE(kEnvironment, nullptr); }

TEST(KeepReadBuffersTest, OneBufferForAllRecordsAndNothingLeftInIt) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);  // as libcurl does
  KeepReadBuffers(context.get());
  Pair pair(context.get());
  EXPECT_EQ(AllocationsOfTenRecords(pair), 0u);
  EXPECT_FALSE(PlaintextInLargeBlocks());
}

// Both are what the function is for, and show that the test above sees what it looks for.
TEST(KeepReadBuffersTest, OpensslByItselfKeepsThePlaintext) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  Pair pair(context.get());
  EXPECT_EQ(AllocationsOfTenRecords(pair), 0u);
  EXPECT_TRUE(PlaintextInLargeBlocks());
}

TEST(KeepReadBuffersTest, LibcurlFreesABufferForEachRecord) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  Pair pair(context.get());
  EXPECT_EQ(AllocationsOfTenRecords(pair), 10u);
}

TEST(SslReadTest, OverwritesWhatTheReadBeforeHasLeft) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  Pair pair(context.get());
  std::string buffer(1000, '.');
  pair.Send(std::string(600, 'a'));
  ASSERT_EQ(pair.Read(buffer.data(), buffer.size()), 600);
  EXPECT_EQ(buffer, std::string(600, 'a') + std::string(400, '.')) << "nothing was left before";
  pair.Send("bbb");
  ASSERT_EQ(pair.Read(buffer.data(), buffer.size()), 3);
  EXPECT_EQ(buffer, "bbb" + std::string(597, '\0') + std::string(400, '.'));
  EXPECT_LT(pair.Read(buffer.data(), buffer.size()), 0) << "nothing has come";
  pair.Send(std::string(700, 'c'));
  ASSERT_EQ(pair.Read(buffer.data(), buffer.size()), 700);
  EXPECT_EQ(buffer.substr(0, 700), std::string(700, 'c'));
}

// Nothing beyond the room is the reader's.
TEST(SslReadTest, StaysInTheRoom) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  Pair pair(context.get());
  std::string buffer(1000, '.');
  pair.Send(std::string(600, 'a'));
  ASSERT_EQ(pair.Read(buffer.data(), 1000), 600);
  pair.Send("bbb");
  ASSERT_EQ(pair.Read(buffer.data(), 10), 3);
  EXPECT_EQ(buffer, "bbb" + std::string(7, '\0') + std::string(590, 'a') + std::string(400, '.'));
  pair.Send("ccc");
  ASSERT_EQ(pair.Read(buffer.data(), 1000), 3);
  EXPECT_EQ(buffer, "ccc" + std::string(597, '\0') + std::string(400, '.'))
      << "a read with the room";
}

TEST(SslReadTest, AfterAReadThatFillsTheRoom) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  Pair pair(context.get());
  std::string buffer(1000, '.');
  pair.Send(std::string(1000, 'a'));
  ASSERT_EQ(pair.Read(buffer.data(), 1000), 1000);
  pair.Send("bbb");
  ASSERT_EQ(pair.Read(buffer.data(), 1000), 3);
  EXPECT_EQ(buffer, "bbb" + std::string(997, '\0'));
}

TEST(SslReadTest, OfEachConnectionByItself) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  Pair one(context.get());
  Pair other(context.get());
  std::string buffer(1000, '.');
  one.Send(std::string(600, 'a'));
  ASSERT_EQ(one.Read(buffer.data(), buffer.size()), 600);
  other.Send("bbb");
  ASSERT_EQ(other.Read(buffer.data(), buffer.size()), 3);
  EXPECT_EQ(buffer.substr(3, 597), std::string(597, 'a'));
}

// libssl's calls go to the first OPENSSL_cleanse() of the dynamic linker.
TEST(CleanseTest, OursComesFirst) {
  Dl_info info;
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "OPENSSL_cleanse"), &info), 0);
  EXPECT_EQ(std::string_view(info.dli_fname).find("libcrypto"), std::string_view::npos)
      << info.dli_fname;
  std::string block(100, 'a');
  OPENSSL_cleanse(block.data(), 99);
  EXPECT_EQ(block, std::string(99, '\0') + "a");
}

}  // namespace
}  // namespace mandate
