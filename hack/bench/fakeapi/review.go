package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
)

// The mark in a review for its uid; it cannot occur in the rest.
const uidMark = "UUUUUUUU-UUUU-UUUU-UUUU-UUUUUUUUUUUU"

// Data of a ConfigMap as operators write them: text of several lines, and something that cannot be compressed.
const properties = `# Settings of the frontend
server.port=8443
server.tls.certificate=/etc/frontend/tls.crt
server.tls.key=/etc/frontend/tls.key
cache.entries=20000
cache.ttl="5m"
log.level=info
log.format=json
`

// What the API server keeps about who set which field.
const reviewFields = `{"f:data":{".":{},"f:application.properties":{},"f:payload":{},"f:tier":{}},` +
	`"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/restartedAt":{}},` +
	`"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{},"f:tier":{}}}}`

// review is an AdmissionReview of a new ConfigMap as kube-apiserver 1.36 sends it, before and after the uid. The
// servers deny it unless its data have the tier of its label.
type review struct {
	head, tail string
}

func newReview(dataTier string) review {
	raw := make([]byte, 400)
	rand.New(rand.NewSource(1)).Read(raw)
	data, err := json.Marshal(map[string]string{
		"application.properties": properties, "payload": hex.EncodeToString(raw), "tier": dataTier,
	})
	check(err)
	const kind = `{"group":"","version":"v1","kind":"ConfigMap"}`
	const resource = `{"group":"","version":"v1","resource":"configmaps"}`
	object := fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"frontend-settings","namespace":"shop",`+
		`"uid":"0c6d1a5c-3f0e-4b0f-9a43-6d1f1f9d2b11","creationTimestamp":"2026-11-26T12:00:00Z",`+
		`"labels":{"app.kubernetes.io/name":"frontend","app.kubernetes.io/part-of":"shop","tier":"gold"},`+
		`"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-11-26T12:00:00Z"},`+
		`"managedFields":[{"manager":"kubectl-create","operation":"Update","apiVersion":"v1","time":"2026-11-26T12:00:00Z",`+
		`"fieldsType":"FieldsV1","fieldsV1":%s}]},"data":%s}`, reviewFields, data)
	text := fmt.Sprintf(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":%q,"kind":%s,`+
		`"resource":%s,"requestKind":%s,"requestResource":%s,"name":"frontend-settings","namespace":"shop",`+
		`"operation":"CREATE","userInfo":{"username":"system:serviceaccount:shop:deployer",`+
		`"uid":"5b0cf0a4-8a39-4f1c-b0a3-2c64a41c3f27","groups":["system:serviceaccounts","system:serviceaccounts:shop",`+
		`"system:authenticated"],"extra":{"authentication.kubernetes.io/credential-id":["JTI=9d3e0f0a-22a4-4b68-9f0c-3f8f0d8c1f62"]}},`+
		`"object":%s,"oldObject":null,"dryRun":false,"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1",`+
		`"fieldManager":"kubectl-create","fieldValidation":"Strict"}}}`+"\n", uidMark, kind, resource, kind, resource, object)
	head, tail, _ := strings.Cut(text, uidMark)
	return review{head, tail}
}

func (r review) body(uid string) string { return r.head + uid + r.tail }

// uidOf is a different uid for each number.
func uidOf(n int64) string { return fmt.Sprintf("8f2f8a3e-6c1b-4d7e-9a50-%012x", n) }

// verdict is what an answer says about the object. An error: it is not the answer to the review with this uid.
func verdict(body []byte, uid string) (bool, error) {
	var answer struct {
		Kind, APIVersion string
		Response         *struct {
			UID     string
			Allowed bool
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return false, err
	}
	if answer.Kind != "AdmissionReview" || answer.APIVersion != "admission.k8s.io/v1" || answer.Response == nil ||
		answer.Response.UID != uid {
		return false, fmt.Errorf("it does not answer the review %s: %s", uid, body)
	}
	return answer.Response.Allowed, nil
}
