#include "webapp/plan.h"

#include "manager/object/int_or_string.h"

namespace webapp {
namespace {

using mandate::appsv1::Deployment;
using mandate::corev1::ConfigMap;
using mandate::corev1::Service;
using v1alpha1::WebApp;

constexpr char kLabel[] = "app.kubernetes.io/instance";
constexpr char kInputs[] = "apps.example.com/inputs";

// An object of the name and namespace of the WebApp.
template <class T>
T Owned(const WebApp& app) {
  T object;
  object.mutable_metadata()->set_name(app.metadata().name());
  object.mutable_metadata()->set_namespace_(app.metadata().namespace_());
  (*object.mutable_metadata()->mutable_labels())[kLabel] = app.metadata().name();
  return object;
}

}  // namespace

std::string SelectorOf(const WebApp& app) {
  return std::string(kLabel) + "=" + app.metadata().name();
}

ConfigMap MakeConfigMap(const WebApp& app) {
  ConfigMap config = Owned<ConfigMap>(app);
  *config.mutable_data() = app.spec().config();
  return config;
}

Deployment MakeDeployment(const WebApp& app, const std::string& inputs) {
  Deployment deployment = Owned<Deployment>(app);
  auto& spec = *deployment.mutable_spec();
  spec.set_replicas(app.spec().replicas());
  (*spec.mutable_selector()->mutable_matchlabels())[kLabel] = app.metadata().name();
  auto& pod = *spec.mutable_template_();
  (*pod.mutable_metadata()->mutable_labels())[kLabel] = app.metadata().name();
  (*pod.mutable_metadata()->mutable_annotations())[kInputs] = inputs;
  auto& container = *pod.mutable_spec()->add_containers();
  container.set_name("app");
  container.set_image(app.spec().image());
  container.add_ports()->set_containerport(app.spec().port());
  container.add_envfrom()->mutable_configmapref()->mutable_localobjectreference()->set_name(
      app.metadata().name());
  return deployment;
}

Service MakeService(const WebApp& app) {
  Service service = Owned<Service>(app);
  (*service.mutable_spec()->mutable_selector())[kLabel] = app.metadata().name();
  auto& port = *service.mutable_spec()->add_ports();
  port.set_name("http");
  port.set_port(app.spec().port());
  *port.mutable_targetport() = mandate::IntOrStringOf(app.spec().port());
  return service;
}

ConfigMap MakeRecord(const WebApp& app) {
  ConfigMap record;
  record.mutable_metadata()->set_namespace_(kRecords);
  record.mutable_metadata()->set_name(app.metadata().namespace_() + "." + app.metadata().name());
  (*record.mutable_data())["image"] = app.spec().image();
  return record;
}

v1alpha1::WebAppStatus MakeStatus(const WebApp& app, const Deployment* deployment) {
  v1alpha1::WebAppStatus status;
  status.set_selector(SelectorOf(app));
  if (deployment == nullptr) return status;
  status.set_replicas(deployment->status().replicas());
  status.set_readyreplicas(deployment->status().readyreplicas());
  return status;
}

}  // namespace webapp
