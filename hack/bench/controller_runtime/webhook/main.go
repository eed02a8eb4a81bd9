// B13: the smallest manager with one webhook, which validates ConfigMaps. It runs until it is killed.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"strconv"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// sameTier denies a ConfigMap whose data do not have the tier of its label.
type sameTier struct{}

func (sameTier) ValidateCreate(_ context.Context, object *corev1.ConfigMap) (admission.Warnings, error) {
	label, ok := object.Labels["tier"]
	if !ok {
		return nil, errors.New("metadata.labels[tier]: is required")
	}
	if data, ok := object.Data["tier"]; !ok || data != label {
		return nil, fmt.Errorf("data[tier]: must be %s, as the label", label)
	}
	return nil, nil
}

func (sameTier) ValidateUpdate(context.Context, *corev1.ConfigMap, *corev1.ConfigMap) (admission.Warnings, error) {
	return nil, nil
}

func (sameTier) ValidateDelete(context.Context, *corev1.ConfigMap) (admission.Warnings, error) {
	return nil, nil
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: webhook KUBECONFIG HOST:PORT CERTIFICATE_FOLDER")
	}
	ctrl.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check(err)
	host, port, err := net.SplitHostPort(os.Args[2])
	check(err)
	number, err := strconv.Atoi(port)
	check(err)
	// Its health and metrics are served, on ports that are free.
	m, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: server.Options{BindAddress: "127.0.0.1:0"}, HealthProbeBindAddress: "127.0.0.1:0",
		WebhookServer: webhook.NewServer(webhook.Options{Host: host, Port: number, CertDir: os.Args[3]}),
	})
	check(err)
	check(ctrl.NewWebhookManagedBy(m, &corev1.ConfigMap{}).WithValidator(sameTier{}).Complete())
	check(m.Start(context.Background()))
}

func check(err error) {
	if err != nil {
		log.Fatal("webhook: ", err)
	}
}
