#include "manager/transport/tls.h"

#include <string_view>
#include <variant>

namespace mandate {
namespace {

CURLcode SetBlob(CURL* easy, CURLoption option, std::string_view bytes) {
  curl_blob blob = {
      .data = const_cast<char*>(bytes.data()), .len = bytes.size(), .flags = CURL_BLOB_NOCOPY};
  return curl_easy_setopt(easy, option, &blob);
}

}  // namespace

CURLcode ApplyTls(CURL* easy, const HttpRequest& request) {
  const Endpoint& endpoint = *request.endpoint;
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  // The endpoint's CA only. libcurl has the system's compiled in as defaults.
  curl_easy_setopt(easy, CURLOPT_CAINFO, nullptr);
  curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  // As bytes: libcurl would cache a file's certificates for a day, and miss their rotation.
  CURLcode code = SetBlob(easy, CURLOPT_CAINFO_BLOB, endpoint.ca_pem);
  if (code != CURLE_OK || !std::holds_alternative<EndpointCertificate>(request.credential)) {
    return code;
  }
  const ClientCertificate& certificate = *endpoint.client_certificate;
  curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
  curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
  code = SetBlob(easy, CURLOPT_SSLCERT_BLOB, certificate.certificate_pem);
  if (code != CURLE_OK) return code;
  return SetBlob(easy, CURLOPT_SSLKEY_BLOB, certificate.key_pem->Reveal());
}

}  // namespace mandate
