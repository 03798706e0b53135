package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// spanIdentity is the trace and the id of a span. It is derived from the span's subject, so that every worker computes
// the same.
type spanIdentity struct {
	traceID trace.TraceID
	spanID  trace.SpanID // zero: any
}

// spanIdentityOf returns the identity of a part of a process, such as a Request; without a part, the process's own.
func (t *Traces) spanIdentityOf(processID string, subjectParts ...any) spanIdentity {
	id := spanIdentity{traceID: trace.TraceID(hashTexts("trace", t.namespace, processID)[:16])}
	id.spanID = trace.SpanID(hashTexts("span", t.namespace, processID, fmt.Sprintln(subjectParts...))[:8])
	return id
}

func hashTexts(texts ...string) []byte {
	sum := sha256.Sum256([]byte("processidea\x00" + strings.Join(texts, "\x00")))
	return sum[:]
}

type spanIdentityKey struct{}

// withSpanIdentity makes the next span that is started from a context have this identity.
func withSpanIdentity(ctx context.Context, id spanIdentity) context.Context {
	return context.WithValue(ctx, spanIdentityKey{}, id)
}

// spanIDGenerator gives spans the ids of their identity, and random ids to spans without one.
type spanIDGenerator struct{}

func (spanIDGenerator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	id, _ := ctx.Value(spanIdentityKey{}).(spanIdentity)
	if !id.traceID.IsValid() {
		_, _ = rand.Read(id.traceID[:])
	}
	if !id.spanID.IsValid() {
		_, _ = rand.Read(id.spanID[:])
	}
	return id.traceID, id.spanID
}

func (g spanIDGenerator) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, spanID := g.NewIDs(ctx)
	return spanID
}
