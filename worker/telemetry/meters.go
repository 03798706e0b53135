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
	requests  metric.Int64Counter
	took      metric.Float64Histogram
	firstByte metric.Float64Histogram
	waited    metric.Float64Histogram
	tokens    metric.Int64Counter
	unpriced  metric.Int64Counter
	cost      metric.Float64Counter
	calls     metric.Int64Counter
	callTook  metric.Float64Histogram
	repeated  metric.Int64Counter
	heldUp    metric.Int64Gauge
	undone    metric.Int64Counter
	waiting   metric.Int64Gauge
	oldest    metric.Float64Gauge
	decisions metric.Int64Counter
	decided   metric.Float64Histogram
	rechecked metric.Int64Counter
	disagreed metric.Int64Counter
}

// newMeters makes the metrics. Errors are ignored: OpenTelemetry refuses only invalid names, and these are constants.
func newMeters(m metric.Meter) meters {
	counter := func(name, what string) metric.Int64Counter {
		c, _ := m.Int64Counter("processidea_"+name, metric.WithDescription(what))
		return c
	}
	gauge := func(name, what string) metric.Int64Gauge {
		g, _ := m.Int64Gauge("processidea_"+name, metric.WithDescription(what))
		return g
	}
	seconds := func(name, what string) metric.Float64Histogram {
		h, _ := m.Float64Histogram("processidea_"+name, metric.WithDescription(what), metric.WithUnit("s"))
		return h
	}
	cost, _ := m.Float64Counter("processidea_cost_dollars",
		metric.WithDescription("Cost of the LLMs that have a price, in US dollars."))
	oldest, _ := m.Float64Gauge("processidea_waiting_oldest", metric.WithUnit("s"),
		metric.WithDescription("How long the oldest of these Calls has waited, by tool."))
	return meters{
		requests: counter("requests", "Finished Requests and finished attempts at them, by outcome."),
		took:     seconds("request_duration", "From the turn of a Request to its end."),
		firstByte: seconds("request_time_to_first_byte", "From the turn of a Request to the first thing that its "+
			"LLM sent."),
		waited: seconds("request_wait", "How long a Request waited for its turn at this worker."),
		tokens: counter("tokens",
			"Tokens that LLMs read (input; of these, cached) and wrote (output; of these, reasoning)."),
		unpriced: counter("unpriced_tokens", "Tokens of LLMs that have no price."),
		cost:     cost,
		calls:    counter("calls", "Finished Calls and finished attempts at them, by tool and outcome."),
		callTook: seconds("call_duration", "How long Calls and attempts at them ran."),
		repeated: counter("calls_repeated",
			"Attempts at Calls that had been tried before: a Tool failed, or a worker was lost."),
		heldUp:    gauge("held_up", "Processes that this worker holds up, by cause; only operators can mend it."),
		undone:    counter("undone", "Calls that took another back, by tool."),
		waiting:   gauge("waiting", "Calls that wait for a person, in all processes, by tool."),
		oldest:    oldest,
		decisions: counter("decisions", "Decisions on Calls that waited, by tool, decision and decider."),
		rechecked: counter("rechecked", "Instances that an LLM was asked about a second time."),
		disagreed: counter("disagreed", "Those of these instances about which it decided otherwise."),
		decided:   seconds("decision", "From when a Call began to wait for people to the decision on it."),
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
	llm, which := labels("llm", r.LLM), labels("llm", r.LLM, "outcome", r.Outcome)
	t.requests.Add(ctx, 1, which)
	t.took.Record(ctx, r.Ended.Sub(r.Began).Seconds(), which)
	t.waited.Record(ctx, r.Waited.Seconds())
	if !r.FirstByte.IsZero() {
		t.firstByte.Record(ctx, r.FirstByte.Sub(r.Began).Seconds(), llm)
	}
	for kind, n := range map[string]int{"input": u.PromptTokens, "output": u.CompletionTokens,
		"cached": u.CachedTokens, "reasoning": u.ReasoningTokens} {
		t.tokens.Add(ctx, int64(n), labels("llm", r.LLM, "type", kind))
	}
	t.cost.Add(ctx, float64(u.Cost)/float64(price.Dollar), llm)
	t.unpriced.Add(ctx, int64(u.UnpricedTokens), llm)
}

// HeldUp sets how many processes a cause holds up.
func (m *Metrics) HeldUp(cause string, processes int) {
	m.meters.heldUp.Record(context.Background(), int64(processes), labels("cause", cause))
}

// Decision counts a decision, and how long the Call had waited for it.
func (m *Metrics) Decision(d approval.Decision) {
	by := "person"
	switch {
	case d.OrderID != "":
		by = "order"
	case d.DecidedBy == approval.DecidedByTimeout:
		by = "deadline"
	}
	which := labels("tool", d.Tool, "decision", d.Kind, "by", by)
	m.meters.decisions.Add(context.Background(), 1, which)
	m.meters.decided.Record(context.Background(), d.DecidedAt.Sub(d.WaitingSince).Seconds(), which)
}

// Rechecked counts the instances that an LLM was asked about twice, and those for which the answers differed.
func (m *Metrics) Rechecked(llm, again string, instances, differed int) {
	which := labels("llm", llm, "again", again)
	m.meters.rechecked.Add(context.Background(), int64(instances), which)
	m.meters.disagreed.Add(context.Background(), int64(differed), which)
}

// Call counts a Call when it ends. A repeated attempt is also counted when it begins.
func (m *Metrics) Call(ctx context.Context, c activities.CallAttempt) (context.Context, func(outcome string)) {
	began := time.Now()
	if c.Attempt > 1 {
		m.meters.repeated.Add(ctx, 1, labels("tool", c.Tool))
	}
	return ctx, func(outcome string) {
		which := labels("tool", c.Tool, "outcome", outcome)
		m.meters.calls.Add(context.Background(), 1, which)
		if c.IsUndo && outcome == activities.OutcomeDone {
			m.meters.undone.Add(context.Background(), 1, labels("tool", c.Tool))
		}
		m.meters.callTook.Record(context.Background(), time.Since(began).Seconds(), which)
	}
}
