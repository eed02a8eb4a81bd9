package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The kinds of B15, by resource. Both have their data in field 2, so that one encoding serves both.
var scopedKinds = map[string]string{"configmaps": "ConfigMap", "secrets": "Secret"}

// scoped is the world of B15: ConfigMaps and Secrets in many namespaces, which are watched by cluster, namespace or name.
// It answers watches with the initial state (KEP-3157), in protobuf; watches in JSON, which clients use to prove their
// access, get no frames. Denials take effect as on an API server: an open watch goes on.
type scoped struct {
	latency   time.Duration // before each answer
	bookmarks time.Duration // between the bookmarks of a watch; 0: none

	mu      sync.Mutex
	version int
	objects map[scope][]*scopedObject // without a name; those of all namespaces, too
	log     []scopedEvent
	streams map[*scopedStream]struct{}
	denied  map[string]bool // namespaces; "": all
	stats   scopedStats
}

// scopedStats count since /bench/reset.
type scopedStats struct {
	watches, lists, reviews, denied, bookmarks int
	bookmarkBytes                              int
	peers                                      map[string]struct{} // addresses of clients
	closed                                     []time.Time
}

// scope is what a watch covers; an empty namespace or name stands for all.
type scope struct{ resource, ns, name string }

type scopedObject struct {
	scope
	raw []byte // its protobuf
	at  int    // of the version in raw
}

type scopedEvent struct {
	object  *scopedObject
	version int
	raw     []byte
}

// scopedStream is an open watch; its queue is guarded by scoped.mu.
type scopedStream struct {
	scope
	queue []scopedEvent
	wake  chan struct{}
}

func (s scope) covers(o scope) bool {
	return s.resource == o.resource && (s.ns == "" || s.ns == o.ns) && (s.name == "" || s.name == o.name)
}

// newScoped makes n objects of each kind in each of the namespaces n-0000, n-0001, …
func newScoped(namespaces, n, payload int, latency, bookmarks time.Duration) *scoped {
	s := &scoped{latency: latency, bookmarks: bookmarks, version: firstVersion, objects: map[scope][]*scopedObject{}, streams: map[*scopedStream]struct{}{},
		denied: map[string]bool{}, stats: scopedStats{peers: map[string]struct{}{}}}
	random := rand.New(rand.NewSource(1))
	for _, resource := range []string{"configmaps", "secrets"} {
		for at := range namespaces {
			ns := fmt.Sprintf("n-%04d", at)
			for i := range n {
				o := newScopedObject(resource, ns, newObject(i, payload, random))
				for _, in := range []scope{{resource, ns, ""}, {resource, "", ""}} {
					s.objects[in] = append(s.objects[in], o)
				}
			}
		}
	}
	return s
}

func newScopedObject(resource, ns string, o object) *scopedObject {
	var e encoded
	e.add(message{}.bytes(1, o.metaIn(ns)).entry(2, "payload", o.data), firstVersion)
	return &scopedObject{scope: scope{resource, ns, o.name}, raw: e.list, at: e.version[0]}
}

// touch modifies n objects of the namespace ("": of all), one after the other.
func (s *scoped) touch(resource, ns string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.objects[scope{resource, ns, ""}]
	for i := range n {
		o := of[i%len(of)]
		s.version++
		raw := slices.Clone(o.raw)
		strconv.AppendInt(raw[o.at:o.at], int64(s.version), 10)
		o.raw = raw
		event := scopedEvent{o, s.version, raw}
		s.log = append(s.log, event)
		for stream := range s.streams {
			if stream.covers(o.scope) {
				stream.push(event)
			}
		}
	}
}

func (s *scopedStream) push(event scopedEvent) {
	s.queue = append(s.queue, event)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *scoped) mux(a *api) http.Handler {
	m := http.NewServeMux()
	for resource := range scopedKinds {
		handle := func(w http.ResponseWriter, r *http.Request) { s.read(resource, w, r) }
		m.HandleFunc("GET /api/v1/"+resource, handle)
		m.HandleFunc("GET /api/v1/namespaces/{ns}/"+resource, handle)
	}
	m.HandleFunc("POST /api/v1/namespaces/{ns}/serviceaccounts/{name}/token", a.token)
	m.HandleFunc("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", s.review)
	m.HandleFunc("/bench/touch", func(w http.ResponseWriter, r *http.Request) {
		s.touch(r.URL.Query().Get("resource"), r.URL.Query().Get("ns"), number(r, "n"))
		answer(w, http.StatusOK, "{}")
	})
	m.HandleFunc("/bench/deny", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.denied[r.URL.Query().Get("ns")] = r.URL.Query().Get("denied") == "true"
		s.mu.Unlock()
		answer(w, http.StatusOK, "{}")
	})
	m.HandleFunc("/bench/stats", s.report(a))
	m.HandleFunc("/bench/reset", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		s.stats = scopedStats{peers: map[string]struct{}{}}
		s.denied = map[string]bool{}
		s.mu.Unlock()
		a.counts.sent.Store(0)
		a.counts.received.Store(0)
		answer(w, http.StatusOK, "{}")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/bench/") {
			s.mu.Lock()
			s.stats.peers[r.RemoteAddr] = struct{}{}
			s.mu.Unlock()
			time.Sleep(s.latency)
		}
		// As in api.mux: a body that is left unread is answered with a reset of its stream.
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		m.ServeHTTP(w, r)
	})
}

func (s *scoped) report(a *api) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c := &s.stats
		out, _ := json.Marshal(map[string]int64{
			"watches": int64(c.watches), "lists": int64(c.lists), "reviews": int64(c.reviews), "denied": int64(c.denied),
			"requests": int64(c.watches + c.lists + c.reviews), "connections": int64(len(c.peers)), "open": int64(len(s.streams)),
			"bookmarks": int64(c.bookmarks), "bookmark bytes": int64(c.bookmarkBytes), "closed": int64(len(c.closed)),
			"closed in one second": int64(mostInOneSecond(c.closed)), "version": int64(s.version),
			"sent": a.counts.sent.Load(), "received": a.counts.received.Load(),
		})
		answer(w, http.StatusOK, string(out))
	}
}

// mostInOneSecond is the greatest number of times, which are sorted, within any one second.
func mostInOneSecond(times []time.Time) int {
	most, first := 0, 0
	for last, t := range times {
		for t.Sub(times[first]) >= time.Second {
			first++
		}
		most = max(most, last-first+1)
	}
	return most
}

func (s *scoped) isDenied(ns string) bool { return s.denied[""] || s.denied[ns] }

func (s *scoped) review(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Spec struct {
			ResourceAttributes struct {
				Namespace string `json:"namespace"`
			} `json:"resourceAttributes"`
		} `json:"spec"`
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &asked); err != nil {
		answer(w, http.StatusBadRequest, "{}")
		return
	}
	s.mu.Lock()
	s.stats.reviews++
	allowed := !s.isDenied(asked.Spec.ResourceAttributes.Namespace)
	s.mu.Unlock()
	answer(w, http.StatusCreated, fmt.Sprintf(`{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1",`+
		`"spec":{},"status":{"allowed":%t}}`, allowed))
}

// read answers a LIST or WATCH.
func (s *scoped) read(resource string, w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ns := r.PathValue("ns")
	watch := q.Get("watch") != ""
	s.mu.Lock()
	if watch {
		s.stats.watches++
	} else {
		s.stats.lists++
	}
	denied := s.isDenied(ns)
	if denied {
		s.stats.denied++
	}
	s.mu.Unlock()
	switch {
	case denied:
		answer(w, http.StatusForbidden, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden",`+
			`"message":"%s is forbidden: bench may not read it in the namespace %q","code":403}`, resource, ns))
	case !watch:
		answer(w, http.StatusBadRequest, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"BadRequest","code":400}`)
	default:
		name := strings.TrimPrefix(q.Get("fieldSelector"), "metadata.name=")
		s.watch(&scopedStream{scope: scope{resource, ns, name}, wake: make(chan struct{}, 1)}, w, r)
	}
}

func (s *scoped) watch(stream *scopedStream, w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	if seconds := number(r, "timeoutSeconds"); seconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
	}
	inProtobuf := strings.Contains(r.Header.Get("Accept"), "protobuf")
	contentType := jsonType
	if inProtobuf {
		contentType = pbType + ";stream=watch"
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	frames := &watcher{world: &world{kind: scopedKinds[stream.resource]}, out: w, counts: &counts{}}
	if !inProtobuf {
		_ = frames.flush(true)
		w.(http.Flusher).Flush()
		<-ctx.Done()
		return
	}
	s.begin(stream, frames, r)
	defer s.end(stream)
	w.(http.Flusher).Flush()
	var tick <-chan time.Time
	if s.bookmarks > 0 {
		ticker := time.NewTicker(s.bookmarks)
		defer ticker.Stop()
		tick = ticker.C
	}
	for frames.flush(true) == nil {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			s.bookmark(frames)
		case <-stream.wake:
			s.mu.Lock()
			events := stream.queue
			stream.queue = nil
			s.mu.Unlock()
			for _, event := range events {
				frames.protobuf("MODIFIED", frames.world.kind, event.raw)
			}
		}
	}
}

// begin opens the stream, with the initial state or the events since a version.
func (s *scoped) begin(stream *scopedStream, frames *watcher, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[stream] = struct{}{}
	if r.URL.Query().Get("sendInitialEvents") != "true" {
		from := number(r, "resourceVersion")
		for _, event := range s.log {
			if event.version > from && stream.covers(event.object.scope) {
				stream.push(event)
			}
		}
		return
	}
	for _, o := range s.objects[scope{stream.resource, stream.ns, ""}] {
		if stream.covers(o.scope) {
			frames.protobuf("ADDED", frames.world.kind, o.raw)
		}
	}
	frames.bookmark(s.version, true)
}

func (s *scoped) end(stream *scopedStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, stream)
	s.stats.closed = append(s.stats.closed, time.Now())
}

func (s *scoped) bookmark(frames *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(frames.buffer)
	frames.bookmark(s.version, false)
	s.stats.bookmarks++
	s.stats.bookmarkBytes += len(frames.buffer) - before
}
