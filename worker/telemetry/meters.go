package telemetry

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"processidea/activities"
	"processidea/model/approval"
	"processidea/model/ideafile/price"
)

// meters are this program's own metrics.
type meters struct {
	requests           metric.Int64Counter
	requestDuration    metric.Float64Histogram
	firstByte          metric.Float64Histogram
	requestWait        metric.Float64Histogram
	tokens             metric.Int64Counter
	unpricedTokens     metric.Int64Counter
	cost               metric.Float64Counter
	calls              metric.Int64Counter
	callTime           metric.Float64Histogram
	repeatedCalls      metric.Int64Counter
	heldUpProcesses    metric.Int64Gauge
	undoneCalls        metric.Int64Counter
	waitingCalls       metric.Int64Gauge
	oldestWait         metric.Float64Gauge
	decisions          metric.Int64Counter
	decisionTime       metric.Float64Histogram
	recheckedInstances metric.Int64Counter
	disagreements      metric.Int64Counter
}

// newMeters makes the metrics. Errors are ignored: OpenTelemetry refuses only invalid names, and these are constants.
func newMeters(m metric.Meter) meters {
	counter := func(name, description string) metric.Int64Counter {
		c, _ := m.Int64Counter("processidea_"+name, metric.WithDescription(description))
		return c
	}
	gauge := func(name, description string) metric.Int64Gauge {
		g, _ := m.Int64Gauge("processidea_"+name, metric.WithDescription(description))
		return g
	}
	seconds := func(name, description string) metric.Float64Histogram {
		h, _ := m.Float64Histogram("processidea_"+name, metric.WithDescription(description), metric.WithUnit("s"))
		return h
	}
	cost, _ := m.Float64Counter("processidea_cost_dollars",
		metric.WithDescription("Cost of the LLMs that have a price, in US dollars."))
	oldest, _ := m.Float64Gauge("processidea_waiting_oldest", metric.WithUnit("s"),
		metric.WithDescription("How long the oldest of these Calls has waited, by tool."))
	return meters{
		requests:        counter("requests", "Finished Requests and finished attempts at them, by outcome."),
		requestDuration: seconds("request_duration", "From the turn of a Request to its end."),
		firstByte: seconds("request_time_to_first_byte", "From the turn of a Request to the first thing that its "+
			"LLM sent."),
		requestWait: seconds("request_wait", "How long a Request waited for its turn at this worker."),
		tokens: counter("tokens",
			"Tokens that LLMs read (input; of these, cached) and wrote (output; of these, reasoning)."),
		unpricedTokens: counter("unpriced_tokens", "Tokens of LLMs that have no price."),
		cost:           cost,
		calls:          counter("calls", "Finished Calls and finished attempts at them, by tool and outcome."),
		callTime:       seconds("call_duration", "How long Calls and attempts at them ran."),
		repeatedCalls: counter("calls_repeated",
			"Attempts at Calls that had been tried before: a Tool failed, or a worker was lost."),
		heldUpProcesses: gauge("held_up",
			"Processes that this worker holds up, by cause; only operators can mend it."),
		undoneCalls:        counter("undone", "Calls that took another back, by tool."),
		waitingCalls:       gauge("waiting", "Calls that wait for a person, in all processes, by tool."),
		oldestWait:         oldest,
		decisions:          counter("decisions", "Decisions on Calls that waited, by tool, decision and decider."),
		recheckedInstances: counter("rechecked", "Instances that an LLM was asked about a second time."),
		disagreements:      counter("disagreed", "Those of these instances about which it decided otherwise."),
		decisionTime:       seconds("decision", "From when a Call began to wait for people to the decision on it."),
	}
}

// labels makes the attributes of a measurement from pairs of a name and its value.
func labels(pairs ...string) metric.MeasurementOption {
	var list []attribute.KeyValue
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, attribute.String(pair[0], pair[1]))
	}
	return metric.WithAttributes(list...)
}

// Request counts a Request.
func (m *Metrics) Request(r activities.RequestAttempt) {
	ctx, t, u := context.Background(), m.meters, r.Usage
	llm, attrs := labels("llm", r.LLM), labels("llm", r.LLM, "outcome", r.Outcome)
	t.requests.Add(ctx, 1, attrs)
	t.requestDuration.Record(ctx, r.EndedAt.Sub(r.StartedAt).Seconds(), attrs)
	t.requestWait.Record(ctx, r.SlotWait.Seconds())
	if !r.FirstByte.IsZero() {
		t.firstByte.Record(ctx, r.FirstByte.Sub(r.StartedAt).Seconds(), llm)
	}
	for kind, n := range map[string]int{"input": u.PromptTokens, "output": u.CompletionTokens,
		"cached": u.CachedTokens, "reasoning": u.ReasoningTokens} {
		t.tokens.Add(ctx, int64(n), labels("llm", r.LLM, "type", kind))
	}
	t.cost.Add(ctx, float64(u.Cost)/float64(price.Dollar), llm)
	t.unpricedTokens.Add(ctx, int64(u.UnpricedTokens), llm)
}

// HeldUp sets how many processes a cause holds up.
func (m *Metrics) HeldUp(cause string, processes int) {
	m.meters.heldUpProcesses.Record(context.Background(), int64(processes), labels("cause", cause))
}

// Decision counts a decision, and how long the Call had waited for it.
func (m *Metrics) Decision(d approval.Decision) {
	decider := "person"
	switch {
	case d.OrderID != "":
		decider = "order"
	case d.DecidedBy == approval.DecidedByTimeout:
		decider = "deadline"
	}
	attrs := labels("tool", d.Tool, "decision", d.Kind, "by", decider)
	m.meters.decisions.Add(context.Background(), 1, attrs)
	m.meters.decisionTime.Record(context.Background(), d.DecidedAt.Sub(d.WaitingSince).Seconds(), attrs)
}

// Rechecked counts the instances that an LLM was asked about twice, and those for which the answers differed.
func (m *Metrics) Rechecked(llm, secondLLM string, instances, differingCount int) {
	attrs := labels("llm", llm, "again", secondLLM)
	m.meters.recheckedInstances.Add(context.Background(), int64(instances), attrs)
	m.meters.disagreements.Add(context.Background(), int64(differingCount), attrs)
}

// Call counts a Call when it ends. A repeated attempt is also counted when it begins.
func (m *Metrics) Call(ctx context.Context, c activities.CallAttempt) (context.Context, func(outcome string)) {
	start := time.Now()
	if c.Attempt > 1 {
		m.meters.repeatedCalls.Add(ctx, 1, labels("tool", c.Tool))
	}
	return ctx, func(outcome string) {
		attrs := labels("tool", c.Tool, "outcome", outcome)
		m.meters.calls.Add(context.Background(), 1, attrs)
		if c.IsUndo && outcome == activities.OutcomeDone {
			m.meters.undoneCalls.Add(context.Background(), 1, labels("tool", c.Tool))
		}
		m.meters.callTime.Record(context.Background(), time.Since(start).Seconds(), attrs)
	}
}
