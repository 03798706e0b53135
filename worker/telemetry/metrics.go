package telemetry

import (
	"context"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	api "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"

	"processidea/protocol"
)

// Metrics are the metrics of one worker: the Temporal SDK's, this program's, and those of Go and of the operating
// system's process.
type Metrics struct {
	registry          *prometheus.Registry
	provider          *metric.MeterProvider
	meter             api.Meter
	waitingCallReader waitingCallReader
}

// latencyBuckets are upper bounds in seconds, for durations from milliseconds to minutes.
var latencyBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}

// NewMetrics makes metrics in which nothing is counted yet.
func NewMetrics() (*Metrics, error) {
	m := &Metrics{registry: prometheus.NewRegistry()}
	reader, err := exporter.New(exporter.WithRegisterer(m.registry), exporter.WithoutScopeInfo(),
		exporter.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("telemetry: make metrics: %w", err)
	}
	m.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// OpenTelemetry's own bounds are meant for milliseconds.
	secondsView := metric.NewView(metric.Instrument{Kind: metric.InstrumentKindHistogram, Unit: "s"},
		metric.Stream{Aggregation: metric.AggregationExplicitBucketHistogram{Boundaries: latencyBuckets}})
	m.provider = metric.NewMeterProvider(metric.WithReader(reader), metric.WithView(secondsView))
	m.meter = m.provider.Meter("processidea")
	return m, nil
}

// Handler serves the metrics as Prometheus reads them.
func (m *Metrics) Handler() http.Handler {
	handler := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.recordWaitingCalls(r.Context())
		handler.ServeHTTP(w, r)
	})
}

// SDKHandler returns the handler for the metrics of a Temporal client and of its workers.
func (m *Metrics) SDKHandler(onError func(error)) client.MetricsHandler {
	return opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter: describingMeter{m.provider.Meter("temporal-sdk-go")}, UseMonotonicCounters: true, OnError: onError,
	})
}

// describingMeter adds the description of a metric that workflows count, since the SDK has no parameter for it.
type describingMeter struct{ api.Meter }

// Int64Counter makes a counter.
func (d describingMeter) Int64Counter(name string, options ...api.Int64CounterOption) (api.Int64Counter, error) {
	if name == protocol.MetricProcesses {
		options = append(options,
			api.WithDescription("Processes that began, paused, went on and ended, by status and code."))
	}
	return d.Meter.Int64Counter(name, options...)
}

// Close ends the counting.
func (m *Metrics) Close(ctx context.Context) error { return m.provider.Shutdown(ctx) }
