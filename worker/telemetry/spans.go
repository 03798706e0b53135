package telemetry

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"processidea/activities"
	"processidea/model/ideafile"
	"processidea/model/ideafile/price"
	"processidea/model/loop"
)

// Attributes of spans for which OpenTelemetry has no convention.
const (
	keyProcess       = attribute.Key("processidea.process")
	keyInstance      = attribute.Key("processidea.instance")
	keyRequest       = attribute.Key("processidea.request")   // its number
	keyCost          = attribute.Key("processidea.cost")      // of a Request, in US dollars
	keyInstanceCount = attribute.Key("processidea.instances") // how many a Request covered
	keyAttempt       = attribute.Key("processidea.attempt")
	keyOutcome       = attribute.Key("processidea.outcome")
)

// contextUnderSpan returns the context of a span that another call exports: the process's, or a Request's. The span is
// started, so that the sampler decides the same, and never ended, so that it is not exported twice.
func (t *Traces) contextUnderSpan(processID string, requestNumber int) context.Context {
	ctx, _ := t.tracer.Start(withSpanIdentity(context.Background(), t.spanIdentityOf(processID)), "process",
		trace.WithNewRoot())
	if requestNumber > 0 {
		ctx, _ = t.tracer.Start(withSpanIdentity(ctx, t.spanIdentityOf(processID, "request", requestNumber)), "request")
	}
	return withSpanIdentity(ctx, spanIdentity{})
}

// ObserveRequest exports a Request. The attempt that the LLM has begun to answer has the span that its Calls refer to;
// failed attempts before it have spans of their own.
func (t *Traces) ObserveRequest(r activities.RequestAttempt) {
	ctx := t.contextUnderSpan(r.ProcessID, 0)
	if !r.FirstByteAt.IsZero() {
		ctx = withSpanIdentity(ctx, t.spanIdentityOf(r.ProcessID, "request", r.RequestNumber))
	}
	_, span := t.tracer.Start(ctx, strings.TrimSpace("chat "+r.LLMName), trace.WithTimestamp(r.StartedAt),
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(requestAttributes(r)...))
	setOutcome(span, r.Outcome, activities.OutcomeComplete)
	span.End(trace.WithTimestamp(r.EndedAt))
}

func requestAttributes(r activities.RequestAttempt) []attribute.KeyValue {
	attrs := []attribute.KeyValue{
		semconv.GenAIOperationNameChat, semconv.GenAIRequestModel(r.LLMName), semconv.GenAIRequestStream(true),
		semconv.GenAIOutputTypeJSON,
		semconv.SessionID(r.ProcessID), semconv.GenAIConversationID(r.ProcessID), keyProcess.String(r.ProcessID),
		keyRequest.Int(r.RequestNumber), keyInstanceCount.Int(r.InstanceCount), keyAttempt.Int(r.AttemptNumber),
	}
	if !r.FirstByteAt.IsZero() {
		attrs = append(attrs, semconv.GenAIResponseTimeToFirstChunk(r.FirstByteAt.Sub(r.StartedAt).Seconds()),
			semconv.GenAIUsageInputTokens(r.Usage.PromptTokens),
			semconv.GenAIUsageOutputTokens(r.Usage.CompletionTokens))
	}
	if r.ServedModel != "" {
		attrs = append(attrs, semconv.GenAIResponseModel(r.ServedModel))
	}
	if n := r.Usage.CachedTokens; n > 0 {
		attrs = append(attrs, semconv.GenAIUsageCacheReadInputTokens(n))
	}
	if n := r.Usage.ReasoningTokens; n > 0 {
		attrs = append(attrs, semconv.GenAIUsageReasoningOutputTokens(n))
	}
	if cost := r.Usage.Cost; cost > 0 {
		attrs = append(attrs, keyCost.Float64(float64(cost)/float64(price.Dollar)))
	}
	if r.FinishReason != "" {
		attrs = append(attrs, semconv.GenAIResponseFinishReasons(r.FinishReason))
	}
	host, port, err := net.SplitHostPort(r.Server)
	if err != nil {
		host = r.Server
	}
	if host != "" {
		attrs = append(attrs, semconv.ServerAddress(host), semconv.GenAIProviderNameKey.String(providerName(host)))
	}
	if n, err := strconv.Atoi(port); err == nil {
		attrs = append(attrs, semconv.ServerPort(n))
	}
	return attrs
}

// providerByHost maps hosts to the conventions' names of their providers. A key that begins with a dot is the end of a
// host.
var providerByHost = map[string]attribute.KeyValue{
	"api.openai.com": semconv.GenAIProviderNameOpenAI, ".openai.azure.com": semconv.GenAIProviderNameAzureAIOpenAI,
	"api.anthropic.com":                 semconv.GenAIProviderNameAnthropic,
	"generativelanguage.googleapis.com": semconv.GenAIProviderNameGCPGemini,
	"api.mistral.ai":                    semconv.GenAIProviderNameMistralAI,
	"api.deepseek.com":                  semconv.GenAIProviderNameDeepseek,
	"api.groq.com":                      semconv.GenAIProviderNameGroq,
	"api.x.ai":                          semconv.GenAIProviderNameXAI,
	"api.perplexity.ai":                 semconv.GenAIProviderNamePerplexity,
}

// providerName names the provider of the LLMs at a host: by the conventions' name if they have one, else by the host
// itself.
func providerName(host string) string {
	for hostOrSuffix, name := range providerByHost {
		if host == hostOrSuffix || strings.HasPrefix(hostOrSuffix, ".") && strings.HasSuffix(host, hostOrSuffix) {
			return name.Value.AsString()
		}
	}
	return host
}

// ObserveCall exports a Call, under its Request, or under its process if its Plan came without one.
func (t *Traces) ObserveCall(ctx context.Context, c activities.CallAttempt) (context.Context, func(outcome string)) {
	requestNumber, _ := strconv.Atoi(strings.SplitN(c.CallID, ".", 2)[0])
	_, span := t.tracer.Start(t.contextUnderSpan(c.ProcessID, requestNumber), "execute_tool "+c.Tool,
		trace.WithAttributes(
			semconv.GenAIOperationNameExecuteTool, semconv.GenAIToolName(c.Tool), semconv.GenAIToolCallID(c.CallID),
			semconv.GenAIToolType(toolType(c.Kind)),
			semconv.SessionID(c.ProcessID), keyProcess.String(c.ProcessID), keyInstance.String(c.InstanceToken),
			keyAttempt.Int(c.AttemptNumber)))
	return trace.ContextWithSpan(ctx, span), func(outcome string) {
		setOutcome(span, outcome, activities.OutcomeDone)
		span.End()
	}
}

// toolType returns the conventions' word for a kind of Tool: an extension calls something outside.
func toolType(k ideafile.ToolKind) string {
	if k == ideafile.KindGo {
		return "function"
	}
	return "extension"
}

// setOutcome records the outcome in a span. The error's text is left out, since it may contain anything.
func setOutcome(span trace.Span, outcome, successOutcome string) {
	span.SetAttributes(keyOutcome.String(outcome))
	if outcome != successOutcome {
		span.SetAttributes(semconv.ErrorTypeKey.String(outcome))
		span.SetStatus(codes.Error, "")
	}
}

// exportProcessRun exports one run of a Process workflow. The first is the root of the trace; later runs, after
// continue-as-new, are its children.
func (t *Traces) exportProcessRun(r processRun) {
	ctx := withSpanIdentity(context.Background(), t.spanIdentityOf(r.processID))
	if !r.isFirstRun {
		ctx = withSpanIdentity(t.contextUnderSpan(r.processID, 0), t.spanIdentityOf(r.processID, "run", r.runID))
	}
	_, span := t.tracer.Start(ctx, strings.TrimSpace("invoke_workflow "+r.ideaPath), trace.WithTimestamp(r.startedAt),
		trace.WithAttributes(
			semconv.GenAIOperationNameInvokeWorkflow, semconv.GenAIAgentName(r.ideaPath),
			semconv.SessionID(r.processID),
			semconv.GenAIConversationID(r.processID),
			keyProcess.String(r.processID)))
	successOutcome := string(loop.StatusCompleted)
	if r.outcome == outcomeContinued {
		successOutcome = outcomeContinued
	}
	setOutcome(span, r.outcome, successOutcome)
	span.End(trace.WithTimestamp(r.endedAt))
}

// processRun is the observed part of one run of a Process workflow.
type processRun struct {
	processID, runID, ideaPath string
	isFirstRun                 bool
	startedAt, endedAt         time.Time
	outcome                    string
}
