package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// Traces sends a trace of every process over OTLP: the process, its Requests, and under each Request the Calls that it
// planned.
//
// The spans are made in activities, with ids derived from their subjects, so that any worker that runs a Call knows the
// span of its Request. The SDK's tracing interceptor is not used: it begins a workflow's span anew with every replay,
// attaches a Call to its instance instead of its Request, and exports the texts of errors.
type Traces struct {
	provider  *sdktrace.TracerProvider
	tracer    trace.Tracer
	namespace string
}

// serviceName is the service of traces, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES set it.
const serviceName = "process-idea-worker"

// NewTraces makes traces of a Temporal namespace, configured by OpenTelemetry's standard variables. It returns nil if
// they name no endpoint, or switch traces off. It returns an error for an unreadable variable.
func NewTraces(ctx context.Context, namespace string, getenv func(string) string) (*Traces, error) {
	trimmedEnv := func(name string) string { return strings.TrimSpace(getenv(name)) } // as OpenTelemetry reads it
	err := checkVariables(switchVariables, "", trimmedEnv)
	if err == nil && !isTracingEnabled(trimmedEnv) {
		return nil, nil
	}
	if err == nil {
		err = checkSettings(trimmedEnv)
	}
	var exporter *otlptrace.Exporter
	if err == nil {
		exporter, err = otlptrace.New(ctx, otlpClient(trimmedEnv))
	}
	var res *resource.Resource
	if err == nil {
		res, err = resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
			resource.WithAttributes(semconv.ServiceName(serviceName)), resource.WithFromEnv())
	}
	if err != nil {
		return nil, fmt.Errorf("telemetry: make traces: %w", err)
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res),
		sdktrace.WithIDGenerator(spanIDGenerator{}))
	return &Traces{provider: p, tracer: p.Tracer("processidea"), namespace: namespace}, nil
}

// Close sends the remaining traces, for as long as ctx allows.
func (t *Traces) Close(ctx context.Context) error {
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("telemetry: send the last spans: %w", err)
	}
	return nil
}

// isTracingEnabled reports whether there is an endpoint, and nothing switches traces off.
func isTracingEnabled(getenv func(string) string) bool {
	return otlpSetting(getenv, "ENDPOINT") != "" && getenv("OTEL_TRACES_EXPORTER") != "none" &&
		!strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true")
}

func otlpSetting(getenv func(string) string, name string) string {
	return cmp.Or(getenv(otlpPrefixes[0]+name), getenv(otlpPrefixes[1]+name))
}

// otlpClient makes a client for the protocol that the variables name. The client reads the other variables itself.
func otlpClient(getenv func(string) string) otlptrace.Client {
	if otlpSetting(getenv, "PROTOCOL") == protocolGRPC {
		return otlptracegrpc.NewClient()
	}
	return otlptracehttp.NewClient()
}
