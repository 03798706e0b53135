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

// addToCounter adds to a counter. OpenTelemetry makes an instrument once; it refuses only invalid names, and these are
// constants.
func (m *Metrics) addToCounter(n int, name, description string, labelPairs ...string) {
	c, _ := m.meter.Int64Counter("processidea_"+name, metric.WithDescription(description))
	c.Add(context.Background(), int64(n), attributes(labelPairs))
}

// observeDuration adds a duration to a histogram.
func (m *Metrics) observeDuration(d time.Duration, name, description string, labelPairs ...string) {
	h, _ := m.meter.Float64Histogram("processidea_"+name, metric.WithDescription(description), metric.WithUnit("s"))
	h.Record(context.Background(), d.Seconds(), attributes(labelPairs))
}

// setGauge sets a gauge.
func (m *Metrics) setGauge(n int, name, description string, labelPairs ...string) {
	g, _ := m.meter.Int64Gauge("processidea_"+name, metric.WithDescription(description))
	g.Record(context.Background(), int64(n), attributes(labelPairs))
}

// attributes makes the attributes of a measurement from pairs of a label's name and its value.
func attributes(labelPairs []string) metric.MeasurementOption {
	var list []attribute.KeyValue
	for pair := range slices.Chunk(labelPairs, 2) {
		list = append(list, attribute.String(pair[0], pair[1]))
	}
	return metric.WithAttributes(list...)
}

// ObserveRequest counts a Request.
func (m *Metrics) ObserveRequest(r activities.RequestAttempt) {
	u := r.Usage
	m.addToCounter(1, "requests", "Finished Requests and finished attempts at them, by outcome.", "llm", r.LLMName,
		"outcome", r.Outcome)
	m.observeDuration(r.EndedAt.Sub(r.StartedAt), "request_duration", "From the turn of a Request to its end.", "llm",
		r.LLMName,
		"outcome", r.Outcome)
	m.observeDuration(r.SlotWaitTime, "request_wait", "How long a Request waited for its turn at this worker.")
	if !r.FirstByteAt.IsZero() {
		m.observeDuration(r.FirstByteAt.Sub(r.StartedAt), "request_time_to_first_byte",
			"From the turn of a Request to the first thing that its LLM sent.", "llm", r.LLMName)
	}
	for kind, n := range map[string]int{"input": u.PromptTokens, "output": u.CompletionTokens,
		"cached": u.CachedTokens, "reasoning": u.ReasoningTokens} {
		m.addToCounter(n, "tokens",
			"Tokens that LLMs read (input; of these, cached) and wrote (output; of these, reasoning).",
			"llm", r.LLMName, "type", kind)
	}
	costCounter, _ := m.meter.Float64Counter("processidea_cost_dollars",
		metric.WithDescription("Cost of the LLMs that have a price, in US dollars."))
	costCounter.Add(context.Background(), float64(u.Cost)/float64(price.Dollar), attributes([]string{"llm", r.LLMName}))
	m.addToCounter(u.UnpricedTokens, "unpriced_tokens", "Tokens of LLMs that have no price.", "llm", r.LLMName)
}

// ObserveHoldUps sets how many processes a cause holds up.
func (m *Metrics) ObserveHoldUps(cause string, processCount int) {
	m.setGauge(processCount, "held_up", "Processes that this worker holds up, by cause; only operators can mend it.",
		"cause", cause)
}

// ObserveDecision counts a decision, and how long the Call had waited for it.
func (m *Metrics) ObserveDecision(d approval.Decision) {
	deciderKind := "person"
	switch {
	case d.StandingOrderID != "":
		deciderKind = "order"
	case d.DecidedBy == approval.DecidedByTimeout:
		deciderKind = "deadline"
	}
	labels := []string{"tool", d.Tool, "decision", d.Kind, "by", deciderKind}
	m.addToCounter(1, "decisions", "Decisions on Calls that waited, by tool, decision and decider.", labels...)
	m.observeDuration(d.DecidedAt.Sub(d.WaitingSince), "decision",
		"From when a Call began to wait for people to the decision on it.", labels...)
}

// ObserveRecheck counts the instances that an LLM was asked about twice, and those for which the answers differed.
func (m *Metrics) ObserveRecheck(firstLLM, secondLLM string, instanceCount, differingCount int) {
	m.addToCounter(instanceCount, "rechecked", "Instances that an LLM was asked about a second time.", "llm", firstLLM,
		"again", secondLLM)
	m.addToCounter(differingCount, "disagreed", "Those of these instances about which it decided otherwise.", "llm",
		firstLLM,
		"again", secondLLM)
}

// ObserveCall counts a Call when it ends. A repeated attempt is also counted when it begins.
func (m *Metrics) ObserveCall(ctx context.Context, c activities.CallAttempt) (context.Context, func(outcome string)) {
	start := time.Now()
	if c.AttemptNumber > 1 {
		m.addToCounter(1, "calls_repeated",
			"Attempts at Calls that had been tried before: a Tool failed, or a worker was lost.", "tool", c.Tool)
	}
	return ctx, func(outcome string) {
		m.addToCounter(1, "calls", "Finished Calls and finished attempts at them, by tool and outcome.", "tool", c.Tool,
			"outcome", outcome)
		if c.IsUndo && outcome == activities.OutcomeDone {
			m.addToCounter(1, "undone", "Calls that took another back, by tool.", "tool", c.Tool)
		}
		m.observeDuration(time.Since(start), "call_duration", "How long Calls and attempts at them ran.", "tool",
			c.Tool,
			"outcome", outcome)
	}
}
