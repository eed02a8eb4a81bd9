// B11: the smallest manager with one controller. It says when it has reconciled for the first time, and runs until it
// is killed.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func main() {
	ctrl.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check(err)
	// Its health and metrics are served, on ports that are free.
	m, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: server.Options{BindAddress: "127.0.0.1:0"}, HealthProbeBindAddress: "127.0.0.1:0",
	})
	check(err)
	var once sync.Once
	check(ctrl.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).Complete(
		reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			once.Do(func() { fmt.Println("reconciled") })
			return reconcile.Result{}, nil
		})))
	check(m.Start(context.Background()))
}

func check(err error) {
	if err != nil {
		log.Fatal("start: ", err)
	}
}
