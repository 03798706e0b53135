package turn

import (
	"processidea/model/diag"
	"processidea/model/ideafile"
)

// Brief is what one Request is about: the instances it covers, what was planned before and what became of it, and what
// went wrong. With the process's Idea it is all that the LLM is told.
type RequestInput struct {
	Process string `json:"process"`
	// Number counts the Requests of the process, from 1; Turn counts those that were answered, and this one. They differ
	// where a Request was lost before it said anything.
	Number int `json:"number"`
	Turn   int `json:"turn"`
	// Instances lists the instances in order.
	Instances []InstanceInput `json:"covered"`
	// Plan is the Calls planned before, with what became of them.
	Plan []PlanEntry `json:"plan,omitempty"`
	// Troubles is what went wrong since the last Request.
	Errors []ContextError `json:"troubles,omitempty"`
	// OutputOnly Requests ask for the output alone: every instance has settled.
	OutputOnly bool `json:"closing,omitempty"`
	// Asking Requests ask for the results of these latent Calls, and for values to be fitted, alone.
	Questions []Question `json:"asking,omitempty"`
}

// Covered is one instance as a Request sees it.
type InstanceInput struct {
	Token string `json:"token"`
	State any    `json:"state"`
	// Missing lists State paths that its schema requires and that are not there.
	Missing []string `json:"missing,omitempty"`
	// Status of an instance that has settled or failed, and why it failed: for the chain.
	Status ideafile.InstanceStatus `json:"status,omitempty"`
	Fault  *diag.Fault             `json:"fault,omitempty"`
}

// PlanEntry is a Call of an earlier Request, and how many instances it stands how in.
type PlanEntry struct {
	ID string `json:"id"` // without a token
	// DirectPlan is the place in the context, from 1, of the Plan that runs directly whose Call it is, Plan its name.
	DirectPlan int                     `json:"direct,omitempty"`
	PlanName   string                  `json:"plan,omitempty"`
	Call   ideafile.WrittenCall    `json:"call"`
	StatusCounts    map[ideafile.CallStatus]int `json:"how"`
	// InstancesByStatus says in which, where they have names.
	InstancesByStatus map[ideafile.CallStatus][]string `json:"where,omitempty"`
	// Results of Calls without an output path, by token.
	Results map[string]any `json:"results,omitempty"`
	// DoneInstances lists the instances in which a Call of such a Plan is done, where neither How nor State tells.
	DoneInstances []string `json:"done,omitempty"`
	// Decisions is what people decided on the Call, in the order of the instances.
	Decisions []InstanceDecision `json:"decided,omitempty"`
}

// InstanceDecision is a person's decision on a Call of one instance.
type InstanceDecision struct {
	Token    string   `json:"token"`
	Decision Decision `json:"decision"`
}

// Trouble is an error message of the context: what was wrong, with which Call, in which instances.
type ContextError struct {
	Call      string     `json:"call,omitempty"` // its id without a token; empty: the Request as a whole
	Instances []string   `json:"instances,omitempty"`
	Fault     diag.Fault `json:"error"`
}

// Asked is a Call about which the LLM is asked by itself: for the result of a latent one, or, where Why is given, to fit
// Params to the Tool's schema.
type Question struct {
	ID     string         `json:"id"`
	Token  string         `json:"token"`
	Tool   string         `json:"tool"`
	Params map[string]any `json:"params"`
	// ParamsError Params do not fit; empty where a result is wanted.
	ParamsError string `json:"why,omitempty"`
}

// Tokens lists the covered instances' tokens; where none is covered, the list is empty but not nil.
func (in *RequestInput) Tokens() []string {
	tokens := make([]string, len(in.Instances))
	for i, c := range in.Instances {
		tokens[i] = c.Token
	}
	return tokens
}
