package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

type requestQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func newQueue(o options) requestQueue {
	if o.legacy {
		return workqueue.NewTypedRateLimitingQueue(
			workqueue.DefaultTypedItemBasedRateLimiter[reconcile.Request]())
	}
	return priorityqueue.New[reconcile.Request]("bench")
}

func requests(n int) []reconcile.Request {
	keys := make([]reconcile.Request, n)
	for i := range keys {
		keys[i] = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "bench", Name: fmt.Sprint("object-", i)}}
	}
	return keys
}

func reportCost(n int, cpu float64, start time.Time) {
	took := time.Since(start).Seconds()
	report("cpu per item", cpu*1e6/float64(n), "us")
	report("wall per item", took*1e6/float64(n), "us")
	report("items per second", float64(n)/took, "1/s")
}

// queue is B1: one goroutine adds, another takes and is done.
func queue(o options) {
	keys := requests(o.keys)
	q := newQueue(o)
	before, start := cpuSeconds(), time.Now()
	go func() {
		for _, key := range keys {
			q.Add(key)
		}
	}()
	for range keys {
		item, _ := q.Get()
		q.Forget(item)
		q.Done(item)
	}
	reportCost(len(keys), cpuSeconds()-before, start)
}

// reconciles is B2: a controller whose reconciler does nothing.
func reconciles(o options) {
	keys := requests(o.keys)
	events := source.Func(func(_ context.Context, q requestQueue) error {
		go func() {
			for _, key := range keys {
				q.Add(key)
			}
		}()
		return nil
	})
	var count atomic.Int64
	all := make(chan struct{})
	priority, skip := !o.legacy, true
	c, err := controller.NewUnmanaged("bench", controller.Options{
		MaxConcurrentReconciles: o.workers, UsePriorityQueue: &priority, SkipNameValidation: &skip,
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			if count.Add(1) == int64(len(keys)) {
				close(all)
			}
			return reconcile.Result{}, nil
		}),
	})
	check(err)
	check(c.Watch(events))
	before, start := cpuSeconds(), time.Now()
	go func() { check(c.Start(context.Background())) }()
	<-all
	reportCost(len(keys), cpuSeconds()-before, start)
}
