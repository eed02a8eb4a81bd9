package main

import "encoding/binary"

// A protobuf message under construction: just what Kubernetes' messages need.
type message []byte

func (m message) bytes(field int, value []byte) message {
	m = binary.AppendUvarint(m, uint64(field)<<3|2)
	m = binary.AppendUvarint(m, uint64(len(value)))
	return append(m, value...)
}

func (m message) string(field int, value string) message { return m.bytes(field, []byte(value)) }

func (m message) varint(field int, value uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), value)
}

// The entry of a map<string,string>.
func (m message) entry(field int, key, value string) message {
	return m.bytes(field, message{}.string(1, key).string(2, value))
}

// envelope is "k8s\0" and a runtime.Unknown, up to the raw message, and what follows it.
func envelope(apiVersion, kind string, raw []byte) []byte {
	m := message{'k', '8', 's', 0}
	m = m.bytes(1, message{}.string(1, apiVersion).string(2, kind))
	return m.bytes(2, raw).string(3, "").string(4, "")
}
