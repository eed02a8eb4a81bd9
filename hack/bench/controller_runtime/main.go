// One task of hack/bench on controller-runtime. Prints one line of JSON for each figure, as hack/bench/ours does.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
)

type options struct {
	kubeconfig         string
	json, list, legacy bool
	identities         int
	objects, events    int
	keys, workers      int
	reads              int
	strip              bool
}

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: controllerruntime TASK [flags]")
	}
	var o options
	f := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "")
	f.BoolVar(&o.json, "json", false, "instead of protobuf, the default for built-in kinds")
	f.BoolVar(&o.list, "list", false, "instead of a watch that begins with the initial state")
	f.BoolVar(&o.legacy, "legacy-queue", false, "client-go's queue instead of the priority queue")
	f.IntVar(&o.identities, "identities", 1, "")
	f.IntVar(&o.objects, "objects", 1000, "")
	f.IntVar(&o.events, "events", 1000, "")
	f.IntVar(&o.keys, "keys", 1_000_000, "")
	f.IntVar(&o.workers, "workers", 8, "")
	f.IntVar(&o.reads, "reads", 100_000, "")
	f.BoolVar(&o.strip, "strip-managed-fields", false, "before an object is in the cache")
	check(f.Parse(os.Args[2:]))
	if o.list {
		check(os.Setenv("KUBE_FEATURE_WatchListClient", "false"))
	}
	ctrl.SetLogger(logr.Discard())
	tasks := map[string]func(options){
		"queue": queue, "reconciles": reconciles, "sync": sync, "storm": storm, "latency": latency,
		"identities": identities, "pods": pods,
	}
	task := tasks[os.Args[1]]
	if task == nil {
		log.Fatalf("there is no task %q", os.Args[1])
	}
	task(o)
}

func check(err error) {
	if err != nil {
		log.Fatal("controllerruntime: ", err)
	}
}

func (o options) config() *rest.Config {
	c, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	check(err)
	c.QPS = -1
	if o.json {
		c.ContentType, c.AcceptContentTypes = "application/json", "application/json"
	}
	return c
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// memory is a field of /proc/self/status, in bytes.
func memory(field string) float64 {
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kilobytes, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kilobytes * 1024
		}
	}
	return 0
}

// live is the heap after a collection, with what is free given back to the system.
func live() float64 {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func report(metric string, value float64, unit string) {
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{"metric": metric, "value": value, "unit": unit}))
}

// reportAges reports percentiles of ages in microseconds; suffix follows their names.
func reportAges(ages []float64, suffix string) {
	slices.Sort(ages)
	at := func(share float64) float64 { return ages[int(share*float64(len(ages)-1))] }
	report("p50"+suffix, at(0.5), "us")
	report("p99"+suffix, at(0.99), "us")
	report("p99.9"+suffix, at(0.999), "us")
}

// sayReady tells the driver that what it does from now on is measured.
func sayReady() { fmt.Println("ready") }
