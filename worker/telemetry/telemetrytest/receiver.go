// Package telemetrytest receives a worker's traces, for tests.
package telemetrytest

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Receiver takes traces over OTLP, as a collector does, in protobuf over HTTP.
type Receiver struct {
	*httptest.Server
	mu           sync.Mutex
	spans        []Span
	rawBytes     []byte
	serviceNames map[string]bool
}

// Span is a received span. Its ids are in hex; ParentID is empty at the root.
type Span struct {
	*otlp.Span
	TraceID, ID, ParentID string
	AttributeByKey        map[string]any // its attributes: string, int64, float64, bool, []any
}

// NewReceiver runs a receiver until the test is over.
func NewReceiver(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{serviceNames: map[string]bool{}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.receive))
	t.Cleanup(r.Close)
	return r
}

// Environment makes a worker send its traces here, without delay.
func (r *Receiver) Environment() []string {
	return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + r.URL, "OTEL_BSP_SCHEDULE_DELAY=10"}
}

// Spans returns the received spans, in order.
func (r *Receiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Span{}, r.spans...)
}

// RawBytes returns every byte received.
func (r *Receiver) RawBytes() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.rawBytes)
}

// ServiceNames returns the names of the services that have sent traces.
func (r *Receiver) ServiceNames() (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.serviceNames {
		names = append(names, name)
	}
	return names
}

func (r *Receiver) receive(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var m collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &m)
	}
	if err != nil || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "these are no traces", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rawBytes = append(r.rawBytes, body...)
	for _, resourceSpans := range m.GetResourceSpans() {
		name, _ := attributeMap(resourceSpans.GetResource().GetAttributes())["service.name"].(string)
		r.serviceNames[name] = true
		for _, scope := range resourceSpans.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				r.spans = append(r.spans, Span{s, hex.EncodeToString(s.GetTraceId()), hex.EncodeToString(s.GetSpanId()),
					hex.EncodeToString(s.GetParentSpanId()), attributeMap(s.GetAttributes())})
			}
		}
	}
}

func attributeMap(list []*common.KeyValue) map[string]any {
	valueByKey := map[string]any{}
	for _, kv := range list {
		valueByKey[kv.GetKey()] = attributeValue(kv.GetValue())
	}
	return valueByKey
}

func attributeValue(v *common.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_IntValue:
		return v.IntValue
	case *common.AnyValue_DoubleValue:
		return v.DoubleValue
	case *common.AnyValue_BoolValue:
		return v.BoolValue
	case *common.AnyValue_ArrayValue:
		var values []any
		for _, e := range v.ArrayValue.GetValues() {
			values = append(values, attributeValue(e))
		}
		return values
	}
	return nil
}
