package ideafile

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// Config is how a process is run (`config`).
type Config struct {
	LLM    LLM
	Limits Limits
	// Approval adds to the Tools' approval policies.
	Approval ApprovalOverride
	// Adapt allows asking the LLM to adapt values that came through References to a Tool's schema.
	Adapt bool
	// GatherDelay is how long a Request waits, once one instance is ready for it, for others that are still running.
	GatherDelay time.Duration
	// BatchSize is the number of instances above which a process is split into parts of that size.
	BatchSize int
	// MCP lists the servers whose tools join the palette, sorted by name.
	MCP []MCPServer
}

// LLM configures the Requests. The server's address and key are the worker's.
type LLM struct {
	// Model is the server's name of the LLM; empty: the worker's OPENAI_MODEL.
	Model       string   `json:"model,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens bounds one reply; 0: the server's own limit.
	MaxTokens int `json:"maxTokens,omitempty"`
	// Timeout is for one whole Request.
	Timeout time.Duration `json:"timeout,omitempty"`
}

// Defaults of a Config.
const (
	DefaultRequestTimeout = 5 * time.Minute
	DefaultGatherDelay    = 10 * time.Second
	DefaultBatchSize      = 100
)

func defaultConfig() Config {
	return Config{LLM: LLM{Timeout: DefaultRequestTimeout}, Adapt: true, GatherDelay: DefaultGatherDelay, BatchSize: DefaultBatchSize}
}

// Limits pause a process that reaches one of them; 0 is no limit.
type Limits struct {
	Requests int           `json:"requests,omitempty"`
	Tokens   int           `json:"tokens,omitempty"`
	Calls    int           `json:"calls,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
}

func (i *Idea) readConfig(config map[string]any, ps *diag.Problems) {
	c := &i.Config
	for _, k := range jsonval.SortedKeys(config) {
		at := jsonval.JSONPathKey("$.config", k)
		var err error
		switch k {
		case "llm":
			c.LLM = readLLM(ReadObject(config, k, "$.config", ps), ps)
		case "limits":
			c.Limits = ReadLimits(ReadObject(config, k, "$.config", ps), at, ps)
		case "gather":
			c.GatherDelay, err = readDuration(config[k])
		case "batch":
			c.BatchSize, err = readBatchSize(config[k])
		case "adapt":
			var ok bool
			c.Adapt, ok = config[k].(bool)
			if !ok {
				err = errors.New("want true or false")
			}
		case "approval":
			c.Approval = readApprovalOverride(ReadObject(config, k, "$.config", ps), at, ps)
		case "mcp":
			c.MCP = readMCPServers(ReadObject(config, k, "$.config", ps), at, ps)
		default:
			err = fmt.Errorf("unknown key %q; config has adapt, approval, batch, gather, limits, llm and mcp", k)
		}
		if err != nil {
			ps.Add(at, "%s", err)
		}
	}
}

// readBatchSize returns the default beside an error, as a batch of none cannot be made.
func readBatchSize(v any) (int, error) {
	n, err := ReadPositiveInt(v)
	if err != nil {
		return DefaultBatchSize, err
	}
	return n, nil
}

func readLLM(m map[string]any, ps *diag.Problems) LLM {
	llm := LLM{Timeout: DefaultRequestTimeout}
	for _, k := range jsonval.SortedKeys(m) {
		at := jsonval.JSONPathKey("$.config.llm", k)
		var err error
		switch k {
		case "model":
			var ok bool
			llm.Model, ok = m[k].(string)
			if !ok {
				err = fmt.Errorf("want a string, not %s", jsonval.TypeOf(m[k]))
			}
		case "temperature":
			err = readTemperature(m[k], &llm)
		case "maxTokens":
			llm.MaxTokens, err = ReadPositiveInt(m[k])
		case "timeout":
			llm.Timeout, err = readDuration(m[k])
		default:
			err = fmt.Errorf("unknown key %q; llm has maxTokens, model, temperature and timeout", k)
		}
		if err != nil {
			ps.Add(at, "%s", err)
		}
	}
	return llm
}

func readTemperature(v any, llm *LLM) error {
	n, err := jsonval.FloatOf(v)
	if err != nil || n < 0 || n > 2 {
		return fmt.Errorf("want a number from 0 to 2")
	}
	llm.Temperature = &n
	return nil
}

// ReadLimits reads {"requests","tokens","calls","duration"}.
func ReadLimits(m map[string]any, path string, ps *diag.Problems) Limits {
	var l Limits
	for _, k := range jsonval.SortedKeys(m) {
		var err error
		switch k {
		case "requests":
			l.Requests, err = ReadPositiveInt(m[k])
		case "tokens":
			l.Tokens, err = ReadPositiveInt(m[k])
		case "calls":
			l.Calls, err = ReadPositiveInt(m[k])
		case "duration":
			l.Duration, err = readDuration(m[k])
		default:
			err = fmt.Errorf("unknown limit %q; there are calls, duration, requests and tokens", k)
		}
		if err != nil {
			ps.Add(jsonval.JSONPathKey(path, k), "%s", err)
		}
	}
	return l
}

// Override returns the limits with those of other in place of its own, where other has one.
func (l Limits) Override(other Limits) Limits {
	return Limits{
		Requests: cmp.Or(max(other.Requests, 0), l.Requests), Tokens: cmp.Or(max(other.Tokens, 0), l.Tokens),
		Calls: cmp.Or(max(other.Calls, 0), l.Calls), Duration: cmp.Or(max(other.Duration, 0), l.Duration),
	}
}
