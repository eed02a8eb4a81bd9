package main

import (
	"context"
	"fmt"
	"log"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	namespace = "bench"
	stampKey  = "bench/ts"
)

func inNamespace(o *cache.Options) {
	o.DefaultNamespaces = map[string]cache.Config{namespace: {}}
}

// watched is an informer with a handler that counts; its updates channel is closed at the wanted update.
type watched struct {
	cache   cache.Cache
	adds    atomic.Int64
	updates int // left
	updated chan struct{}
	synced  <-chan struct{}
}

// watch adds the informer to a cache that starts afterwards.
func watch(c cache.Cache, kind client.Object, updates int) *watched {
	w := &watched{cache: c, updates: updates, updated: make(chan struct{})}
	informer, err := c.GetInformer(context.Background(), kind, cache.BlockUntilSynced(false))
	check(err)
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { w.adds.Add(1) },
		UpdateFunc: func(any, any) {
			if w.updates--; w.updates == 0 {
				close(w.updated)
			}
		},
	})
	check(err)
	w.synced = registration.HasSyncedChecker().Done()
	return w
}

func (w *watched) wait(objects int) {
	<-w.synced
	if n := int(w.adds.Load()); n != objects {
		log.Fatalf("synced with %d of %d", n, objects)
	}
}

func newCache(o options) cache.Cache {
	var co cache.Options
	inNamespace(&co)
	c, err := cache.New(o.config(), co)
	check(err)
	return c
}

func start(c cache.Cache) { check(c.Start(context.Background())) }

// sync is B3 and B4.
func sync(o options) {
	heap, anonymous := live(), memory("RssAnon")
	w := watch(newCache(o), &corev1.ConfigMap{}, 0)
	go start(w.cache)
	w.wait(o.objects)
	report("cpu", cpuSeconds(), "s")
	report("peak rss", memory("VmHWM"), "B")
	report("bytes per object", (live()-heap)/float64(o.objects), "B")
	report("rss", memory("VmRSS"), "B")
	report("resident bytes per object", (memory("RssAnon")-anonymous)/float64(o.objects), "B")
	runtime.KeepAlive(w)
}

// storm is B5.
func storm(o options) {
	w := watch(newCache(o), &corev1.ConfigMap{}, o.events)
	go start(w.cache)
	w.wait(o.objects)
	before, begin := cpuSeconds(), time.Now()
	sayReady()
	<-w.updated
	took := time.Since(begin).Seconds()
	report("cpu per 1M events", (cpuSeconds()-before)*1e6/float64(o.events), "s")
	report("events per second", float64(o.events)/took, "1/s")
	report("peak rss", memory("VmHWM"), "B")
}

// latency is B6.
func latency(o options) {
	var co cache.Options
	inNamespace(&co)
	m, err := ctrl.NewManager(o.config(), ctrl.Options{Cache: co, Metrics: server.Options{BindAddress: "0"}})
	check(err)
	var ages []float64
	initial := 0
	ready, done := make(chan struct{}), make(chan struct{})
	reconciler := reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		now := time.Now().UnixNano()
		var object corev1.ConfigMap
		check(m.GetCache().Get(ctx, r.NamespacedName, &object))
		sent, err := strconv.ParseInt(object.Annotations[stampKey], 10, 64)
		check(err)
		if sent == 0 {
			if initial++; initial == o.objects {
				close(ready)
			}
			return reconcile.Result{}, nil
		}
		if ages = append(ages, float64(now-sent)/1e3); len(ages) == o.events {
			close(done)
		}
		return reconcile.Result{}, nil
	})
	check(ctrl.NewControllerManagedBy(m).For(&corev1.ConfigMap{}).Complete(reconciler))
	go func() { check(m.Start(context.Background())) }()
	<-ready
	before := cpuSeconds()
	sayReady()
	<-done
	used := cpuSeconds() - before
	reportAges(ages, "")
	report("cpu per event", used*1e6/float64(o.events), "us")
}

// identities is B10: what there is for several identities is a cluster for each.
func identities(o options) {
	var all []*watched
	for i := range o.identities {
		c := rest.CopyConfig(o.config())
		c.BearerToken = fmt.Sprint("bench-", i)
		cl, err := cluster.New(c, func(co *cluster.Options) { inNamespace(&co.Cache) })
		check(err)
		all = append(all, watch(cl.GetCache(), &corev1.ConfigMap{}, 0))
		go func() { check(cl.Start(context.Background())) }()
	}
	for _, w := range all {
		w.wait(o.objects)
	}
	report("cpu", cpuSeconds(), "s")
	report("peak rss", memory("VmHWM"), "B")
	live()
	report("rss", memory("VmRSS"), "B")
	runtime.KeepAlive(all)
}
