#include "rbacgen/emit/crd/kubernetes_markers.h"

#include <cstdint>
#include <functional>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

using mandate::api::Schema;

// Applies a marker's text to a schema.
using Apply = void (*)(const std::string& text, Schema* schema);

template <void (Schema::*Set)(int64_t)>
void Number(const std::string& text, Schema* schema) {
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number)) (schema->*Set)(number);
}

// The text without the quotes that a marker may have.
std::string Unquoted(const std::string& text) {
  std::string value;
  return UnquoteGo(text, &value) ? value : text;
}

// A default ref(…) is a Go constant, whose value is not known here.
void Default(const std::string& text, Schema* schema) {
  if (!text.starts_with("ref(")) schema->set_default_(text);
}

const std::map<std::string_view, Apply>& Markers() {
  static const auto& markers = *new std::map<std::string_view, Apply>{
      {"default", Default},
      {"k8s:listMapKey",
       [](const std::string& text, Schema* s) { s->add_listmapkeys(Unquoted(text)); }},
      {"k8s:listType", [](const std::string& text, Schema* s) { s->set_listtype(Unquoted(text)); }},
      {"k8s:optional", [](const std::string&, Schema* s) { s->set_required(false); }},
      {"k8s:required", [](const std::string&, Schema* s) { s->set_required(true); }},
      {"kubebuilder:default", Default},
      {"kubebuilder:validation:Enum",
       [](const std::string& text, Schema* s) {
         for (const auto& value : absl::StrSplit(text, ';')) s->add_enum_(std::string(value));
       }},
      {"kubebuilder:validation:Format",
       [](const std::string& text, Schema* s) { s->set_format(Unquoted(text)); }},
      {"kubebuilder:validation:MaxItems", Number<&Schema::set_maxitems>},
      {"kubebuilder:validation:MaxLength", Number<&Schema::set_maxlength>},
      {"kubebuilder:validation:Maximum", Number<&Schema::set_maximum>},
      {"kubebuilder:validation:MinItems", Number<&Schema::set_minitems>},
      {"kubebuilder:validation:MinLength", Number<&Schema::set_minlength>},
      {"kubebuilder:validation:Minimum", Number<&Schema::set_minimum>},
      {"kubebuilder:validation:Optional",
       [](const std::string&, Schema* s) { s->set_required(false); }},
      {"kubebuilder:validation:Pattern",
       [](const std::string& text, Schema* s) { s->set_pattern(Unquoted(text)); }},
      {"kubebuilder:validation:Required",
       [](const std::string&, Schema* s) { s->set_required(true); }},
      {"listMapKey", [](const std::string& text, Schema* s) { s->add_listmapkeys(text); }},
      {"listType", [](const std::string& text, Schema* s) { s->set_listtype(text); }},
      {"mapType", [](const std::string& text, Schema* s) { s->set_maptype(text); }},
      {"nullable", [](const std::string&, Schema* s) { s->set_nullable(true); }},
      {"optional", [](const std::string&, Schema* s) { s->set_required(false); }},
      {"required", [](const std::string&, Schema* s) { s->set_required(true); }},
      {"structType", [](const std::string& text, Schema* s) { s->set_maptype(text); }},
  };
  return markers;
}

std::string_view NameOf(std::string_view marker) {
  return marker.substr(0, marker.find_first_of("=({ "));
}

}  // namespace

Schema ReadKubernetesMarkers(const std::vector<std::string>& markers) {
  Schema schema;
  schema.set_required(true);
  for (const std::string& marker : markers) {
    const auto found = Markers().find(NameOf(marker));
    if (found == Markers().end()) continue;
    const size_t equals = marker.find('=');
    found->second(equals == marker.npos ? "" : marker.substr(equals + 1), &schema);
  }
  return schema;
}

bool IsSchemaMarker(std::string_view marker) {
  return marker.starts_with("kubebuilder:") || Markers().contains(NameOf(marker));
}

}  // namespace mandate::rbacgen
