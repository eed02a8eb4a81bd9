package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	namespace = "bench"
	// Ten digits, and so is every later version: an event differs from its object in bytes, not in length.
	firstVersion = 1_000_000_000
	created      = 1_760_000_000
	// The annotation of every object; in an event, when its frame was made: unix time in nanoseconds, 19 digits.
	stampKey = "bench/ts"
	noStamp  = "0000000000000000000"
)

// A marker that occurs once in an encoded object is found by searching; these cannot occur in hex.
const (
	versionMark = "VVVVVVVVVV"
	stampMark   = "TTTTTTTTTTTTTTTTTTT"
)

// encoded are all objects in one encoding, one after the other as they stand in a list.
type encoded struct {
	list []byte
	// Of each object in list, without what separates them.
	start, end []int
	// Of each object, from its start; empty for objects that have no events.
	version, stamp []int
}

func (e *encoded) object(i int) []byte { return e.list[e.start[i]:e.end[i]] }

// world is the objects, and how many events there were: event k (from 1) modifies object (k-1) mod n and makes its
// version the server's. There is no log, so a watch may start anywhere.
type world struct {
	kind     string // ConfigMap or Pod
	n        int
	json, pb encoded

	mu        sync.Mutex
	changed   *sync.Cond
	published int // events so far
	watchers  map[*watcher]struct{}
}

func emptyWorld(kind string) *world {
	w := &world{kind: kind, watchers: map[*watcher]struct{}{}}
	w.changed = sync.NewCond(&w.mu)
	return w
}

func newWorld(n, payload int) *world {
	w := emptyWorld("ConfigMap")
	w.n = n
	random := rand.New(rand.NewSource(1))
	for i := range n {
		o := newObject(i, payload, random)
		if i > 0 {
			w.json.list = append(w.json.list, ',')
		}
		w.json.add(o.json(), firstVersion+i+1)
		pb := o.protobuf()
		w.pb.list = append(w.pb.list, itemHead(pb)...)
		w.pb.add(pb, firstVersion+i+1)
	}
	return w
}

// add appends one object whose marks are replaced by its first version and no stamp.
func (e *encoded) add(object []byte, version int) {
	v, s := bytes.Index(object, []byte(versionMark)), bytes.Index(object, []byte(stampMark))
	strconv.AppendInt(object[v:v], int64(version), 10)
	copy(object[s:], noStamp)
	e.version, e.stamp = append(e.version, v), append(e.stamp, s)
	e.append(object)
}

// append appends one object as it is.
func (e *encoded) append(object []byte) {
	e.start = append(e.start, len(e.list))
	e.list = append(e.list, object...)
	e.end = append(e.end, len(e.list))
}

// objectBytes is the mean size of an object in protobuf.
func (w *world) objectBytes() int64 {
	total := 0
	for i := range w.n {
		total += w.pb.end[i] - w.pb.start[i]
	}
	return int64(total / w.n)
}

// page is the list of objects [from, to), with a continue token when more follow.
func (w *world) page(e *encoded, asJSON bool, from, to int) []byte {
	version := strconv.Itoa(firstVersion + w.n)
	next := ""
	if to < w.n {
		next = strconv.Itoa(to)
	}
	items := e.list[e.start[from]:e.end[to-1]]
	if asJSON {
		meta := map[string]any{"resourceVersion": version}
		if next != "" {
			meta["continue"], meta["remainingItemCount"] = next, w.n-to
		}
		m, _ := json.Marshal(meta)
		head := `{"kind":"` + w.kind + `List","apiVersion":"v1","metadata":` + string(m) + `,"items":[`
		return slices.Concat([]byte(head), items, []byte("]}\n"))
	}
	meta := message{}.string(1, "").string(2, version).string(3, next)
	if next != "" {
		meta = meta.varint(4, uint64(w.n-to))
	}
	list := message{}.bytes(1, meta)
	list = append(list, itemHead(e.object(from))...)
	return envelope("v1", w.kind+"List", append(list, items...))
}

// itemHead is the tag and length that precede an object in a list.
func itemHead(object []byte) []byte {
	whole := message{}.bytes(2, object)
	return whole[:len(whole)-len(object)]
}

// object is a ConfigMap as a real one looks: a label, an annotation, one owner of its fields.
type object struct {
	name, uid, data string
}

func newObject(i, payload int, random *rand.Rand) object {
	raw := make([]byte, 16+payload/2)
	random.Read(raw)
	u := hex.EncodeToString(raw[:16])
	return object{
		name: fmt.Sprintf("object-%06d", i),
		uid:  u[:8] + "-" + u[8:12] + "-" + u[12:16] + "-" + u[16:20] + "-" + u[20:],
		data: hex.EncodeToString(raw[16:]),
	}
}

// What the API server keeps about who set which field.
const fieldsV1 = `{"f:data":{".":{},"f:payload":{}},"f:metadata":{"f:annotations":{".":{},"f:bench/ts":{}},` +
	`"f:labels":{".":{},"f:app":{}}}}`

func (o object) json() []byte {
	at := time.Unix(created, 0).UTC().Format(time.RFC3339)
	return fmt.Appendf(nil, `{"metadata":{"name":%q,"namespace":%q,"uid":%q,"resourceVersion":%q,"creationTimestamp":%q,`+
		`"labels":{"app":"bench"},"annotations":{%q:%q},"managedFields":[{"manager":"bench","operation":"Update",`+
		`"apiVersion":"v1","time":%q,"fieldsType":"FieldsV1","fieldsV1":%s}]},"data":{"payload":%q}}`,
		o.name, namespace, o.uid, versionMark, at, stampKey, stampMark, at, fieldsV1, o.data)
}

func (o object) protobuf() []byte {
	return message{}.bytes(1, o.meta()).entry(2, "payload", o.data)
}

// meta is the metadata in protobuf.
func (o object) meta() message { return o.metaIn(namespace) }

func (o object) metaIn(ns string) message {
	at := message{}.varint(1, created).varint(2, 0)
	managed := message{}.string(1, "bench").string(2, "Update").string(3, "v1").bytes(4, at).string(6, "FieldsV1").
		bytes(7, message{}.string(1, fieldsV1)).string(8, "")
	return message{}.string(1, o.name).string(2, "").string(3, ns).string(4, "").string(5, o.uid).
		string(6, versionMark).varint(7, 0).bytes(8, at).entry(11, "app", "bench").entry(12, stampKey, stampMark).
		bytes(17, managed)
}
