package telemetry

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
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
// they name no endpoint, or switch traces off. It returns an error for an unreadable endpoint, since the exporter would
// only log that, and send to another address.
func NewTraces(ctx context.Context, namespace string, getenv func(string) string) (*Traces, error) {
	if !isTracingEnabled(getenv) {
		return nil, nil
	}
	client, err := otlpClient(getenv)
	if err == nil {
		err = checkSampler(getenv)
	}
	var exporter *otlptrace.Exporter
	if err == nil {
		exporter, err = otlptrace.New(ctx, client)
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

func isTracingEnabled(getenv func(string) string) bool {
	exporter := getenv("OTEL_TRACES_EXPORTER")
	return getenv(endpointVariables[0])+getenv(endpointVariables[1]) != "" &&
		!strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") && (exporter == "" || exporter == "otlp")
}

// endpointVariables are the variables with the address for traces.
var endpointVariables = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

// checkSampler returns an error for a sampler that OpenTelemetry would ignore, with a log line that nobody reads.
func checkSampler(getenv func(string) string) error {
	const name, argName = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	sampler := getenv(name)
	switch strings.TrimPrefix(sampler, "parentbased_") {
	case "", "always_on", "always_off":
		return nil
	case "traceidratio":
		text := getenv(argName)
		if sampleRatio, err := strconv.ParseFloat(text, 64); text != "" &&
			(err != nil || !(sampleRatio >= 0 && sampleRatio <= 1)) {
			return fmt.Errorf("%s is %q; want the share of traces to send, from 0 to 1", argName, text)
		}
		return nil
	}
	return fmt.Errorf("%s is %q; want always_on, always_off, traceidratio, or one of these with parentbased_ in front",
		name, sampler)
}

// otlpClient makes a client for the protocol that the variables name. The client reads the other variables itself.
func otlpClient(getenv func(string) string) (otlptrace.Client, error) {
	for _, name := range endpointVariables {
		text := getenv(name)
		u, err := url.Parse(text)
		if text != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			return nil, fmt.Errorf("%s is %q; want the collector's address, such as http://collector:4318", name, text)
		}
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch protocol := getenv(name); protocol {
		case "":
		case "grpc":
			return otlptracegrpc.NewClient(), nil
		case "http/protobuf":
			return otlptracehttp.NewClient(), nil
		default:
			return nil, fmt.Errorf("%s is %q; want grpc or http/protobuf", name, protocol)
		}
	}
	return otlptracehttp.NewClient(), nil
}
