package service

import (
	"context"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.temporal.io/sdk/interceptor"

	"processidea/activities"
	"processidea/client"
	"processidea/worker/telemetry"
)

func (s *service) startMetrics(context.Context) (err error) {
	s.metrics, err = telemetry.NewMetrics()
	if err != nil {
		return err
	}
	s.cleanups = append(s.cleanups, func() { _ = s.metrics.Close(context.Background()) })
	return nil
}

// traceFlushTimeout bounds the sending of the last spans.
const traceFlushTimeout = 5 * time.Second

// startTraces begins to send traces, if the environment asks for them.
func (s *service) startTraces(ctx context.Context) (err error) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { s.log.Warn("telemetry", "error", err) }))
	s.traces, err = telemetry.NewTraces(ctx, s.temporalOptions.Namespace, os.Getenv)
	if s.traces == nil {
		return err
	}
	s.cleanups = append(s.cleanups, func() {
		ctx, cancel := context.WithTimeout(context.Background(), traceFlushTimeout)
		defer cancel()
		if err := s.traces.Close(ctx); err != nil {
			s.log.Warn("telemetry", "error", err)
		}
	})
	s.log.Info("sending traces over OTLP")
	return nil
}

func (s *service) registerWaitingCallCount(context.Context) error {
	s.metrics.SetWaitingCallCounter(client.New(s.client, s.namespace, s.store).NewWaitingCallCounter().Count)
	return nil
}

func (s *service) observer() activities.Observer {
	if s.traces == nil {
		return s.metrics
	}
	return telemetry.CombinedObserver{Metrics: s.metrics, Traces: s.traces}
}

func (s *service) interceptors() []interceptor.WorkerInterceptor {
	if s.traces == nil {
		return nil
	}
	return []interceptor.WorkerInterceptor{s.traces.Interceptor()}
}
