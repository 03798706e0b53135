package ideafile

import (
	"errors"
	"fmt"
	"time"

	"processidea/model/approval/policy"
	"processidea/model/diag"
	"processidea/model/ideafile/price"
	"processidea/model/jsonval"
)

// Config is how a process is run (`config`).
type Config struct {
	LLMs   LLMs
	Limits Limits
	// Prices of LLMs take precedence over those of the worker.
	Prices price.List
	// ApprovalOversight adds to the Tools' approval policies.
	ApprovalOversight policy.Oversight
	// AdaptValuesWithLLM allows asking the LLM to adapt values that came through References to a Tool's schema.
	AdaptValuesWithLLM bool
	// AskLLMBeforeSettling makes the process ask the LLM before an instance settles, even if its State has all that is
	// required.
	AskLLMBeforeSettling bool
	// SettleInstancesTogether keeps settled instances open until all have settled: until then, a Call may name a
	// settled instance, and reopens it.
	SettleInstancesTogether bool
	// UndoOnFailure makes an instance that fails undo what it did (`config.onFailure`).
	UndoOnFailure bool
	// RequestGatherDelay is how long a Request waits, once one instance is ready for it, for others that are still
	// running.
	RequestGatherDelay time.Duration
	// ReviewGatherDelay is how long a Request waits for an instance after a person was asked about it:
	// RequestGatherDelay, but at most DefaultGatherDelay, if the file sets `gather`; else 0, so that people do not
	// delay other instances.
	ReviewGatherDelay time.Duration
	// MaxInstancesPerPart is the number of instances above which a process is split into parts of that size; 0
	// ("auto"): it is derived from the LLM's work for each instance, see model/quality.
	MaxInstancesPerPart int
	// Quality says which answers are asked for twice.
	Quality Quality
	// MaxConcurrentParts is the number of parts that work at a time; 0: split.DefaultMaxWorkingParts.
	MaxConcurrentParts int
	// Priority orders the process's tasks among those of others.
	Priority Priority
	// InstanceNameTemplate is a template of what people call an instance (`config.instanceName`); empty: its token.
	InstanceNameTemplate string
	// MCPServers lists the servers whose tools join the palette, sorted by name.
	MCPServers []MCPServer
}

// Defaults of a Config.
const (
	DefaultGatherDelay = 10 * time.Second
	// maxAllowedConcurrentParts bounds how many parts report to one workflow at a time.
	maxAllowedConcurrentParts = 1000
)

func (i *Idea) readConfig(config jsonval.Object, ps *diag.Problems) {
	c := &i.Config
	for k, v := range jsonval.Sorted(config) {
		keyPath := jsonval.JSONPathWithKey("$.config", k)
		readObject := func() jsonval.Object { return diag.ReadObject(config, k, "$.config", ps) }
		var err error
		switch k {
		case "llm":
			c.LLMs = ReadLLMs(v, keyPath, ps)
		case "limits":
			c.Limits = ReadLimits(readObject(), keyPath, ps)
		case "gather":
			c.RequestGatherDelay, err = jsonval.ReadDuration(v)
			c.ReviewGatherDelay = min(c.RequestGatherDelay, DefaultGatherDelay)
		case "batch":
			c.MaxInstancesPerPart, err = readMaxInstancesPerPart(v)
		case "partsAtOnce":
			c.MaxConcurrentParts, err = jsonval.ReadCount(v, maxAllowedConcurrentParts)
		case "quality":
			if m := readObject(); m != nil {
				c.Quality = readQuality(m, keyPath, ps)
			}
		case "priority":
			c.Priority.Level, err = jsonval.ReadCount(v, maxPriorityLevel)
		case "fairness":
			c.Priority.readFairness(readObject(), keyPath, ps)
		case "adapt":
			c.AdaptValuesWithLLM, err = readBool(v)
		case "approval":
			c.ApprovalOversight = policy.ReadOversight(readObject(), keyPath, ps)
		case "instanceName":
			c.InstanceNameTemplate = readDisplayTemplate(v, keyPath, ps)
		case "onFailure":
			if c.UndoOnFailure = v == "undo"; !c.UndoOnFailure {
				err = errors.New(`want "undo": an instance that fails undoes what it did`)
			}
		case "settle":
			err = c.readSettle(v)
		case "prices":
			c.Prices = price.Read(readObject(), keyPath, ps)
		case "mcp":
			c.MCPServers = ReadMCPServers(readObject(), keyPath, ps)
		default:
			err = fmt.Errorf("unknown key %q; config has adapt, approval, batch, fairness, gather, instanceName, "+
				"limits, llm, mcp, onFailure, partsAtOnce, prices, priority, quality and settle", k)
		}
		if err != nil {
			ps.Add(keyPath, "%s", err)
		}
	}
}

func (c *Config) readSettle(v any) error {
	switch v {
	case "asked":
		c.AskLLMBeforeSettling = true
	case "together":
		c.SettleInstancesTogether = true
	default:
		return errors.New(
			`want "asked" (the LLM is asked before an instance that has reached its goal settles) or "together" ` +
				"(a Call may reopen an instance until all have settled)")
	}
	return nil
}

// readMaxInstancesPerPart returns 0 for "auto".
func readMaxInstancesPerPart(v any) (int, error) {
	if v == "auto" {
		return 0, nil
	}
	n, err := jsonval.ReadPositiveInt(v)
	if err != nil {
		return 0, fmt.Errorf(`%w; or "auto"`, err)
	}
	return n, nil
}
