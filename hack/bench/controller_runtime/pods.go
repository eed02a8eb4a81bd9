package main

import (
	"context"
	"math/rand"
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pods is B14.
func pods(o options) {
	var co cache.Options
	if o.strip {
		co.DefaultTransform = cache.TransformStripManagedFields()
	}
	c, err := cache.New(o.config(), co)
	check(err)
	heap, anonymous, begin := live(), memory("RssAnon"), time.Now()
	w := watch(c, &corev1.Pod{}, 0)
	go start(c)
	w.wait(o.objects)
	wall := time.Since(begin)
	report("cpu", cpuSeconds(), "s")
	report("wall", wall.Seconds(), "s")
	report("peak rss", memory("VmHWM"), "B")
	report("bytes per object", (live()-heap)/float64(o.objects), "B")
	report("rss", memory("VmRSS"), "B")
	report("resident bytes per object", (memory("RssAnon")-anonymous)/float64(o.objects), "B")

	var list corev1.PodList
	check(c.List(context.Background(), &list, client.UnsafeDisableDeepCopy))
	keys := make([]client.ObjectKey, len(list.Items))
	for i := range list.Items {
		keys[i] = client.ObjectKeyFromObject(&list.Items[i])
	}
	list = corev1.PodList{}
	// The reads begin without the garbage of the start.
	runtime.GC()
	random := rand.New(rand.NewSource(1))
	took := make([]float64, 0, o.reads)
	for range o.reads {
		key := keys[random.Intn(len(keys))]
		begin := time.Now()
		var pod corev1.Pod
		check(c.Get(context.Background(), key, &pod))
		took = append(took, float64(time.Since(begin).Nanoseconds())/1e3)
	}
	reportAges(took, " of a typed read")
	runtime.KeepAlive(w)
}
