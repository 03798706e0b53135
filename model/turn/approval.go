package turn

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// PendingApproval is a Call that waits for a person, as the person is shown it. What is shown is exactly what will run.
type PendingApproval struct {
	Call string `json:"call"`
	// Digest is the SHA-256, in hex, of the canonical JSON of what would run: call, tool and params, and where they are
	// given outputPath, outputMethod, scopes, output and asked.
	Digest     string             `json:"digest"`
	Tool       string             `json:"tool"`
	Params     map[string]any     `json:"params"`
	OutputPath refexpr.OutputPath `json:"outputPath,omitempty"`
	OutputMethod     string             `json:"outputMethod,omitempty"`
	// Scopes is what the Tool would be given beside its parameters.
	Scopes map[string]any `json:"scopes,omitempty"`
	// Adapted is what Params were before the LLM fitted them to the Tool's schema.
	Adapted *Adaptation `json:"adapted,omitempty"`
	// Output is the result that the LLM wrote for a latent Tool.
	Output any        `json:"output,omitempty"`
	Since  time.Time  `json:"since"`
	Deadline  *time.Time `json:"deadline"`
	// OnTimeout is what happens at the deadline by itself.
	OnTimeout string   `json:"onTimeout,omitempty"`
	Allow     []string `json:"allow"`
	// ReviewReason a person is asked, where it is not the Tool's policy.
	ReviewReason string `json:"why,omitempty"`
	// TimesAsked counts how often a person was asked about the Call, from 1, where it is more than once: a decision on what was
	// asked before is none on this.
	TimesAsked int `json:"asked,omitempty"`
}

// seal computes the digest.
func (p *PendingApproval) SetDigest() {
	m := map[string]any{"call": p.Call, "tool": p.Tool, "params": p.Params}
	if len(p.OutputPath) > 0 {
		m["outputPath"] = p.OutputPath.String()
	}
	if p.OutputMethod != "" {
		m["outputMethod"] = p.OutputMethod
	}
	if p.Scopes != nil {
		m["scopes"] = p.Scopes
	}
	if p.Output != nil {
		m["output"] = p.Output
	}
	if p.TimesAsked > 0 {
		m["asked"] = p.TimesAsked
	}
	sum := sha256.Sum256(jsonval.Encode(jsonval.Normal(m)))
	p.Digest = hex.EncodeToString(sum[:])
}
