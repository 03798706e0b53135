package ideafile

import (
	"fmt"
	"math"
	"slices"
	"time"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// LLM is a language model that Requests are sent to.
type LLM struct {
	// Model is the model's name at the server; empty: the worker's model for that server.
	Model string
	// Server is the worker's name of the server; empty: its first one.
	Server      string
	Temperature *float64
	// MaxTokens bounds one reply; 0: the server's own limit.
	MaxTokens int
	// Timeout bounds one whole Request. If other LLMs follow, they are asked if no byte has come by then.
	Timeout time.Duration
	// UsesBatch sends Requests through the server's batch interface: cheaper, and answered within a day.
	UsesBatch bool
	// MaxRetryDuration is how long a Request is retried while the server is unavailable; 0: the worker's setting.
	MaxRetryDuration time.Duration
}

// LLMs are tried in their order: the next one if the one before it gave no reply. There is at least one.
type LLMs []LLM

// DefaultLLMTimeout is the timeout of an LLM without `timeout`.
const DefaultLLMTimeout = 5 * time.Minute

// DefaultBatchTimeout is the timeout of an LLM that is asked by batches: servers take a day at most.
const DefaultBatchTimeout = 25 * time.Hour

// maxLLMs bounds a list of LLMs: each LLM that fails costs time.
const maxLLMs = 8

// DefaultLLMs is the one default LLM of an Idea that names none.
func DefaultLLMs() LLMs { return LLMs{{Timeout: DefaultLLMTimeout}} }

// Timeout is how long a Request may take in all, at most what a duration can hold.
func (l LLMs) Timeout() (total time.Duration) {
	for _, one := range l {
		total += min(one.Timeout, math.MaxInt64-total)
	}
	return total
}

// MaxRetryDuration is how long a Request is retried while the LLMs' servers are unavailable: the longest of them, since
// any LLM may answer; 0: the worker's setting.
func (l LLMs) MaxRetryDuration() (maxDuration time.Duration) {
	for _, one := range l {
		maxDuration = max(maxDuration, one.MaxRetryDuration)
	}
	return maxDuration
}

// UsesBatch reports whether Requests are sent through the server's batch interface.
func (l LLMs) UsesBatch() bool { return len(l) == 1 && l[0].UsesBatch }

// AnswerTimeout bounds how long an answer may take once it has begun: the answer of a batch comes in one piece.
func (l LLMs) AnswerTimeout() time.Duration {
	if l.UsesBatch() {
		return DefaultLLMTimeout
	}
	return l.Timeout()
}

// ReadLLMs reads one, {"model", "server", "temperature", "maxTokens", "timeout", "batch"}, or a list of them.
func ReadLLMs(v any, path string, ps *diag.Problems) LLMs {
	switch v := v.(type) {
	case nil:
	case jsonval.Object:
		return LLMs{readLLM(v, path, ps)}
	case []any:
		if len(v) == 0 || len(v) > maxLLMs {
			ps.Add(path, "want 1 to %d LLMs, not %d", maxLLMs, len(v))
			break
		}
		var llms LLMs
		for n, raw := range v {
			itemPath := fmt.Sprintf("%s[%d]", path, n)
			settings, ok := raw.(jsonval.Object)
			if !ok {
				ps.AddWrongType(itemPath, "want an object", raw)
			}
			llms = append(llms, readLLM(settings, itemPath, ps))
		}
		if len(llms) > 1 && slices.ContainsFunc(llms, func(raw LLM) bool { return raw.UsesBatch }) {
			ps.Add(
				path,
				"with batch, only one LLM is allowed: the process waits for the batch and cannot fall back to "+
					"another LLM")
		}
		return llms
	default:
		ps.AddWrongType(path, "want an object, or a list of objects that are asked in their order", v)
	}
	return DefaultLLMs()
}

func readLLM(m jsonval.Object, path string, ps *diag.Problems) LLM {
	llm := LLM{Timeout: DefaultLLMTimeout}
	for k, v := range jsonval.Sorted(m) {
		var err error
		switch k {
		case "batch":
			if llm.UsesBatch, err = readBool(v); llm.UsesBatch {
				llm.Timeout = DefaultBatchTimeout // "timeout" is read later
			}
		case "model":
			llm.Model, err = readLLMName(v)
		case "server":
			llm.Server, err = readLLMName(v)
		case "temperature":
			llm.Temperature, err = readTemperature(v)
		case "maxTokens":
			llm.MaxTokens, err = jsonval.ReadPositiveInt(v)
		case "timeout":
			llm.Timeout, err = jsonval.ReadDuration(v)
		case "patience":
			llm.MaxRetryDuration, err = jsonval.ReadDuration(v)
		default:
			err = fmt.Errorf(
				"unknown key %q; llm has batch, maxTokens, model, patience, server, temperature and timeout", k)
		}
		if err != nil {
			ps.AddAtKey(path, k, "%s", err)
		}
	}
	return llm
}

func readLLMName(v any) (string, error) {
	name, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("want a string, not %s", jsonval.TypeOf(v))
	}
	return name, nil
}

func readBool(v any) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("want true or false, not %s", jsonval.TypeOf(v))
	}
	return b, nil
}

func readTemperature(v any) (*float64, error) {
	n, err := jsonval.ToFloat(v)
	if err != nil || n < 0 || n > 2 {
		return nil, fmt.Errorf("want a number from 0 to 2, not %s", jsonval.QuoteForError(v))
	}
	return &n, nil
}
