package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
)

const (
	maxPage         = 1 << 30
	lengthDelimited = 2
)

var errTruncated = errors.New("a truncated page")

// recordedPods reads the Pods that hack/bench/pods recorded.
func recordedPods(paths []string) (*world, error) {
	w := emptyWorld("Pod")
	size := int64(0)
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		size += info.Size()
	}
	w.pb.list = make([]byte, 0, size)
	for _, path := range paths {
		if err := w.pb.addRecording(path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	w.n = len(w.pb.start)
	if w.n == 0 {
		return nil, fmt.Errorf("no Pods in %q", paths)
	}
	return w, nil
}

// addRecording appends the Pods of a file of pages, each of which is its length in four bytes, little endian, and the
// answer of an API server to a LIST in protobuf.
func (e *encoded) addRecording(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	for {
		var size uint32
		if err := binary.Read(in, binary.LittleEndian, &size); err == io.EOF {
			return nil
		} else if err != nil || size > maxPage {
			return errTruncated
		}
		page := make([]byte, size)
		if _, err := io.ReadFull(in, page); err != nil {
			return errTruncated
		}
		if err := e.addPage(page); err != nil {
			return err
		}
	}
}

// addPage appends the items of a list in its envelope.
func (e *encoded) addPage(page []byte) error {
	unknown, found := bytes.CutPrefix(page, []byte("k8s\x00"))
	if !found {
		return errors.New("a page without the envelope of Kubernetes' protobuf")
	}
	return eachBytes(unknown, func(field int, list []byte) error {
		if field != 2 {
			return nil
		}
		return eachBytes(list, func(field int, item []byte) error {
			if field == 2 {
				e.list = append(e.list, itemHead(item)...)
				e.append(item)
			}
			return nil
		})
	})
}

// eachBytes calls visit with the byte strings of a message whose other fields are varints.
func eachBytes(m []byte, visit func(field int, value []byte) error) error {
	for len(m) > 0 {
		tag, n := binary.Uvarint(m)
		if n <= 0 {
			return errTruncated
		}
		value, more := binary.Uvarint(m[n:])
		if more <= 0 {
			return errTruncated
		}
		m = m[n+more:]
		if tag&7 != lengthDelimited {
			continue
		}
		if value > uint64(len(m)) {
			return errTruncated
		}
		if err := visit(int(tag>>3), m[:value]); err != nil {
			return err
		}
		m = m[value:]
	}
	return nil
}

// syntheticPods are just what a quick run needs: Pods that decode, and that are large enough to be compressed.
func syntheticPods(n int) *world {
	w := emptyWorld("Pod")
	w.n = n
	random := rand.New(rand.NewSource(1))
	for i := range n {
		o := newObject(i, 0, random)
		container := message{}.string(1, "app").string(2, "registry.example.com/app:v1")
		for k := range 50 {
			container = container.bytes(7, message{}.string(1, fmt.Sprint("SETTING_", k)).string(2, "the value of Pod "+o.name+" is "+o.uid))
		}
		pod := message{}.bytes(1, o.meta()).bytes(2, message{}.bytes(2, container).string(10, "node")).
			bytes(3, message{}.string(1, "Running"))
		copy(pod[bytes.Index(pod, []byte(versionMark)):], fmt.Sprint(firstVersion+i+1))
		w.pb.list = append(w.pb.list, itemHead(pod)...)
		w.pb.append(pod)
	}
	return w
}
