package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// This file holds the rules of when a person must look at a Call before it runs, and what the person is shown.

// The decisions a person can take on a Call that waits for one.
const (
	Approve = "approve" // it runs as shown
	Reject  = "reject"  // it does not run
	Amend   = "amend"   // it runs with other parameters
	Replace = "replace" // another Call takes its place
	Answer  = "answer"  // the person gives its result, and nothing runs
)

var everyDecision = []string{Approve, Reject, Amend, Replace, Answer}

// Decisions lists the decisions a person can take: the names of their signals.
func Decisions() []string { return everyDecision }

// onTimeoutPause is what a deadline can do beside taking a decision.
const onTimeoutPause = "pause"

// Approval is a Tool's policy: when a person must look at its Calls, and what becomes of one at which nobody looks.
type Approval struct {
	// When is a JSON Schema over the resolved parameters; nil: always. One that does not compile asks always.
	When *Schema
	// Timeout after which OnTimeout ("reject", "approve" or "pause") happens by itself; 0: never.
	Timeout   time.Duration
	OnTimeout string
	// Allow lists the decisions that may be taken.
	Allow []string
}

// readApproval reads `_approval`; what is wrong with it goes to ps under path.
func readApproval(v any, path string, ps *Problems) *Approval {
	a := &Approval{OnTimeout: Reject, Allow: everyDecision}
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		if !v {
			return nil
		}
	case map[string]any:
		a.read(v, path, ps)
	default:
		ps.add(path, "want true, false or an object, not %s", TypeOf(v))
	}
	return a
}

func (a *Approval) read(m map[string]any, path string, ps *Problems) {
	for _, k := range sortedKeys(m) {
		at := joinJSONPath(path, k)
		var err error
		switch k {
		case "when":
			a.readWhen(m[k], at, ps)
		case "timeout":
			a.Timeout, err = readDuration(m[k])
		case "onTimeout":
			s, _ := m[k].(string)
			if a.OnTimeout = s; !slices.Contains([]string{Reject, Approve, onTimeoutPause}, s) {
				err = fmt.Errorf("want reject, approve or pause")
			}
		case "allow":
			a.Allow, err = readAllow(m[k])
		default:
			err = fmt.Errorf("unknown key %q; _approval has allow, onTimeout, timeout and when", k)
		}
		if err != nil {
			ps.add(at, "%s", err)
		}
	}
	if m["onTimeout"] != nil && m["timeout"] == nil {
		ps.add(path+".onTimeout", "it never happens: there is no timeout")
	}
}

// readWhen compiles the condition. A policy that is not understood must not become one that lets everything through: it
// asks, and the file's author is warned. What wants to load something is refused as everywhere.
func (a *Approval) readWhen(v any, path string, ps *Problems) {
	s, err := CompileSchema(v)
	if err == nil {
		a.When = s
		return
	}
	reason := strings.TrimPrefix(err.Error(), "model: ")
	if checkRefs(v) != nil {
		ps.add(path, "%s", reason)
		return
	}
	ps.warn(path, "it cannot be evaluated, so that a person is asked about every Call: %s", reason)
}

func readAllow(v any) ([]string, error) {
	list, ok := stringList(v)
	for _, d := range list {
		ok = ok && slices.Contains(everyDecision, d)
	}
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("want a list of %s", strings.Join(everyDecision, ", "))
	}
	return list, nil
}

// asks says whether a person must look at a Call with these parameters. A condition that cannot be evaluated asks.
func (a *Approval) asks(params map[string]any) bool {
	if a == nil {
		return false
	}
	if a.When == nil || HasHandle(params) {
		return true
	}
	holds, err := a.When.matches(params)
	return holds || err != nil
}

// Oversight is what a process's `config.approval` adds to the policies of its Tools. It takes nothing away.
type Oversight struct {
	All   bool     `json:"all,omitempty"`
	Tools []string `json:"tools,omitempty"`
}

func readOversight(m map[string]any, path string, ps *Problems) (o Oversight) {
	for _, k := range sortedKeys(m) {
		ok := true
		switch k {
		case "all":
			o.All, ok = m[k].(bool)
		case "tools":
			o.Tools, ok = stringList(m[k])
		default:
			ps.add(joinJSONPath(path, k), "unknown key %q; approval has all and tools", k)
		}
		if !ok {
			ps.add(joinJSONPath(path, k), `want {"tools": ["name"]} or {"all": true}`)
		}
	}
	return o
}

// checkOversight refuses names of no Tool: whoever writes one believes that somebody will be asked.
func (i *Idea) checkOversight(ps *Problems) {
	for n, name := range i.Config.Approval.Tools {
		at := fmt.Sprintf("$.config.approval.tools[%d]", n)
		if i.Tool(name) != nil {
			continue
		}
		if server, ok := i.mayCome(name); ok {
			ps.warn(at, "%s", maybeServer(name, server))
			continue
		}
		ps.add(at, "the palette has no tool %q", Clip(name, 80))
	}
}

// Of is the policy for a Tool's Calls; nil where nobody need look.
func (o Oversight) Of(t *Tool) *Approval {
	switch {
	case !o.All && !slices.Contains(o.Tools, t.Name):
		return t.Approval
	case t.Approval == nil:
		return &Approval{OnTimeout: Reject, Allow: everyDecision}
	}
	always := *t.Approval
	always.When = nil
	return &always
}

// Pending is a Call that waits for a person, as the person is shown it. What is shown is exactly what will run.
type Pending struct {
	Call string `json:"call"`
	// Digest is the SHA-256, in hex, of the canonical JSON of what would run: call, tool and params, and where they are
	// given outputPath, outputMethod, scopes, output and asked.
	Digest     string         `json:"digest"`
	Tool       string         `json:"tool"`
	Params     map[string]any `json:"params"`
	OutputPath OutputPath     `json:"outputPath,omitempty"`
	Method     string         `json:"outputMethod,omitempty"`
	// Scopes is what the Tool would be given beside its parameters.
	Scopes map[string]any `json:"scopes,omitempty"`
	// Adapted is what Params were before the LLM fitted them to the Tool's schema.
	Adapted *Adapted `json:"adapted,omitempty"`
	// Output is the result that the LLM wrote for a latent Tool.
	Output any        `json:"output,omitempty"`
	Since  time.Time  `json:"since"`
	Until  *time.Time `json:"deadline"`
	// OnTimeout is what happens at the deadline by itself.
	OnTimeout string   `json:"onTimeout,omitempty"`
	Allow     []string `json:"allow"`
	// Why a person is asked, where it is not the Tool's policy.
	Why string `json:"why,omitempty"`
	// Asked counts how often a person was asked about the Call, from 1, where it is more than once: a decision on what was
	// asked before is none on this.
	Asked int `json:"asked,omitempty"`
}

// seal computes the digest.
func (p *Pending) seal() {
	m := map[string]any{"call": p.Call, "tool": p.Tool, "params": p.Params}
	if len(p.OutputPath) > 0 {
		m["outputPath"] = p.OutputPath.String()
	}
	if p.Method != "" {
		m["outputMethod"] = p.Method
	}
	if p.Scopes != nil {
		m["scopes"] = p.Scopes
	}
	if p.Output != nil {
		m["output"] = p.Output
	}
	if p.Asked > 0 {
		m["asked"] = p.Asked
	}
	sum := sha256.Sum256(Encode(Normal(m)))
	p.Digest = hex.EncodeToString(sum[:])
}
