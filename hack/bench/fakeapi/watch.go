package main

import (
	"context"
	"encoding/binary"
	"net/http"
	"strconv"
	"time"
)

// Frames are gathered up to this much before they are written: a real server flushes when its queue is empty.
const chunkBytes = 64 << 10

const (
	jsonType = "application/json"
	pbType   = "application/vnd.kubernetes.protobuf"
)

// watcher is one open watch, on the goroutine of its request.
type watcher struct {
	world  *world
	asJSON bool
	out    http.ResponseWriter
	buffer []byte
	done   context.Context
	counts *counts

	// Guarded by world.mu.
	sent int // events written
}

// frame appends one event whose object is `e`'s i-th, at `version`; a stamp of 0 leaves the annotation as it is.
func (w *watcher) frame(kind string, i, version int, stamp int64) {
	e := &w.world.pb
	if w.asJSON {
		e = &w.world.json
	}
	object := e.object(i)
	at := 0
	if w.asJSON {
		w.buffer = append(w.buffer, `{"type":"`...)
		w.buffer = append(w.buffer, kind...)
		w.buffer = append(w.buffer, `","object":{"kind":"`...)
		w.buffer = append(w.buffer, w.world.kind...)
		w.buffer = append(w.buffer, `","apiVersion":"v1",`...)
		at = len(w.buffer) - 1
		w.buffer = append(w.buffer, object[1:]...)
		w.buffer = append(w.buffer, "}\n"...)
	} else {
		at = w.protobuf(kind, w.world.kind, object)
	}
	if len(e.version) == 0 {
		return
	}
	strconv.AppendInt(w.buffer[at+e.version[i]:at+e.version[i]], int64(version), 10)
	if stamp != 0 {
		strconv.AppendInt(w.buffer[at+e.stamp[i]:at+e.stamp[i]], stamp, 10)
	}
}

// protobuf appends length, WatchEvent, RawExtension, envelope and message; returns where the message begins.
func (w *watcher) protobuf(kind, object string, raw []byte) int {
	const tail = 4 // two empty fields
	typeMeta := 2 + 2 + len("v1") + 2 + len(object)
	unknown := 4 + typeMeta + 1 + uvarintLen(len(raw)) + len(raw) + tail
	extension := 1 + uvarintLen(unknown) + unknown
	event := 2 + len(kind) + 1 + uvarintLen(extension) + extension
	b := binary.BigEndian.AppendUint32(w.buffer, uint32(event))
	b = append(b, 1<<3|2, byte(len(kind)))
	b = append(b, kind...)
	b = append(b, 2<<3|2)
	b = binary.AppendUvarint(b, uint64(extension))
	b = append(b, 1<<3|2)
	b = binary.AppendUvarint(b, uint64(unknown))
	b = append(b, 'k', '8', 's', 0, 1<<3|2, byte(typeMeta-2), 1<<3|2, 2, 'v', '1', 2<<3|2, byte(len(object)))
	b = append(b, object...)
	b = append(b, 2<<3|2)
	b = binary.AppendUvarint(b, uint64(len(raw)))
	at := len(b)
	b = append(b, raw...)
	w.buffer = append(b, 3<<3|2, 0, 4<<3|2, 0)
	return at
}

func uvarintLen(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

func (w *watcher) bookmark(version int, initialEnd bool) {
	v := strconv.Itoa(version)
	if w.asJSON {
		w.buffer = append(w.buffer, `{"type":"BOOKMARK","object":{"kind":"`+w.world.kind+`","apiVersion":"v1","metadata":{"resourceVersion":"`+v+`"`...)
		if initialEnd {
			w.buffer = append(w.buffer, `,"annotations":{"k8s.io/initial-events-end":"true"}`...)
		}
		w.buffer = append(w.buffer, "}}}\n"...)
		return
	}
	meta := message{}.string(6, v)
	if initialEnd {
		meta = meta.entry(12, "k8s.io/initial-events-end", "true")
	}
	w.protobuf("BOOKMARK", w.world.kind, message{}.bytes(1, meta))
}

// flush writes what is gathered when that is enough, or all of it.
func (w *watcher) flush(all bool) error {
	if len(w.buffer) == 0 || (!all && len(w.buffer) < chunkBytes) {
		return nil
	}
	w.counts.bytes.Add(int64(len(w.buffer)))
	_, err := w.out.Write(w.buffer)
	w.buffer = w.buffer[:0]
	if err == nil && all {
		w.out.(http.Flusher).Flush()
	}
	return err
}

func (w *watcher) initial(upTo int) error {
	for i := range w.world.n {
		w.frame("ADDED", i, firstVersion+i+1, 0)
		if err := w.flush(false); err != nil {
			return err
		}
	}
	w.bookmark(firstVersion+w.world.n+upTo, true)
	return w.flush(true)
}

// run sends events after the `from`-th until the watch ends.
func (w *watcher) run(from int) {
	world := w.world
	stop := context.AfterFunc(w.done, func() {
		world.mu.Lock()
		world.changed.Broadcast()
		world.mu.Unlock()
	})
	defer stop()
	world.mu.Lock()
	w.sent = from
	world.watchers[w] = struct{}{}
	defer func() {
		delete(world.watchers, w)
		world.changed.Broadcast()
		world.mu.Unlock()
	}()
	for {
		for w.sent >= world.published && w.done.Err() == nil {
			world.changed.Wait()
		}
		if w.done.Err() != nil {
			return
		}
		next, published := w.sent, world.published
		world.mu.Unlock()
		var err error
		for ; next < published && err == nil; next++ {
			w.frame("MODIFIED", next%world.n, firstVersion+world.n+next+1, time.Now().UnixNano())
			err = w.flush(next+1 == published)
		}
		world.mu.Lock()
		w.sent = next
		world.changed.Broadcast()
		if err != nil {
			return
		}
	}
}

// burst publishes n events, at `rate` a second or (0) at once, and waits until every watch has sent them.
func (w *world) burst(n, rate int) {
	w.mu.Lock()
	last := w.published + n
	w.mu.Unlock()
	publish := func(upTo int) {
		w.mu.Lock()
		w.published = upTo
		w.changed.Broadcast()
		w.mu.Unlock()
	}
	if rate <= 0 {
		publish(last)
	}
	start := time.Now()
	for i := 1; rate > 0 && i <= n; i++ {
		time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		publish(last - n + i)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		behind := false
		for watcher := range w.watchers {
			behind = behind || watcher.sent < last
		}
		if !behind {
			return
		}
		w.changed.Wait()
	}
}
