package modeltest

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"processidea/model/approval"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/turn"
)

// Replies and schemas that many tests use.
const (
	EmptyReply    = `{"calls":[],"output":null}`
	SummarySchema = `{"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}`
)

// SnapshotAndReparse returns the Snapshot of a Request, encoded and parsed again.
func SnapshotAndReparse(t Fataler, i *ideafile.Idea, input *turn.RequestInput, calls []ideafile.WrittenCall,
	output any) *ideafile.Idea {
	text := jsonval.Encode(turn.SnapshotIdea(i.Source, input, calls, output))
	reparsedIdea, ps := ideafile.ParseIdea(text)
	if len(ps) > 0 {
		t.Fatalf("%s\nin %s", ps, text)
	}
	return reparsedIdea
}

// Scenario plays a process without Temporal: the loop, its instances, and an LLM whose replies the test writes. It
// replaces the workflows and activities between them, and carries loop and instances over to new runs at every step, as
// continue-as-new does.
type Scenario struct {
	T               rapid.TB
	Idea            *ideafile.Idea
	Loop            *loop.Loop
	InstanceByToken map[string]*dataflow.Instance
	Bindings        ideafile.ToolBindings
	Now             time.Time
	// RunTool runs a Tool that is run by code. A test may replace it.
	RunTool func(tool string, params jsonval.Object) (any, *diag.Fault)

	// RequestInput is the input of the Request in flight, and Ended are the instances that the last Request ended.
	RequestInput   *turn.RequestInput
	EndedInstances []*loop.InstanceProgress
	// UsagePerRequest is the usage of each Request; zero: 100 tokens in and 10 out.
	UsagePerRequest turn.TokenUsage
	// UnreachedInstanceTokens are the instances that receive no Call of a Request.
	UnreachedInstanceTokens []string
	// FullyDeliveredInstanceTokens are the instances that received a whole reply which the process then loses, and that
	// have reported its outcome.
	FullyDeliveredInstanceTokens []string
	rereportedRequestNumber      int // instances report all Calls of this lost Request
	// ReportedCallsByToken is what each instance has reported of its Calls, by token and Call id.
	ReportedCallsByToken map[string]map[string]dataflow.LastReportedCall
	// AckedCorrectionCountByToken counts the corrections that each instance has applied. CorrectionsByToken holds those
	// that it has not applied yet.
	AckedCorrectionCountByToken map[string]int
	CorrectionsByToken          map[string][]approval.SteeringPayload
	calledInstanceTokens        []string // the instances that the Calls of the last reply are for
	// reportCount numbers the reports of all instances together.
	reportCount int
}

// ScenarioToolsJSON is the default palette: work and log are run by code, fail always fails, and think is latent.
const ScenarioToolsJSON = `"work": {"type": "object", "properties": {"x": {}, "n": {"type": "integer"}}}, "fail": {"type": "object", "properties": {}},
	"think": {"type": "object", "properties": {"x": {}}, "_output": {"type": "string", "minLength": 1}},
	"log": {"type": "object", "properties": {}, "_outputPath": "†state.log", "_outputMethod": "push"}`

// StartTime is when every Scenario starts.
var StartTime = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

// NewScenario starts a process. outputSchema is the schema of its output, empty for none, and ideaMembers are more keys
// of its Idea, such as `"context": […]`.
func NewScenario(t rapid.TB, outputSchema string, ideaMembers ...string) *Scenario {
	return NewScenarioWithTools(t, ScenarioToolsJSON, outputSchema, ideaMembers...)
}

// NewScenarioWithTools is NewScenario with another palette.
func NewScenarioWithTools(t rapid.TB, toolsJSON, outputSchema string, ideaMembers ...string) *Scenario {
	if outputSchema != "" {
		outputSchema = `, "output": ` + outputSchema
	}
	schema := `"schema": {"tools": {` + toolsJSON + `}` + outputSchema + `}`
	return NewScenarioFromIdea(t, IdeaFrom(t, "{"+strings.Join(append([]string{schema}, ideaMembers...), ", ")+"}"),
		false)
}

// NewScenarioFromIdea starts a process of an Idea; with isPart, it is a part of a split process.
func NewScenarioFromIdea(t rapid.TB, idea *ideafile.Idea, isPart bool) *Scenario {
	s := &Scenario{
		T: t, Idea: idea, Now: StartTime,
		InstanceByToken: map[string]*dataflow.Instance{}, Bindings: ideafile.ToolBindings{},
		ReportedCallsByToken:        map[string]map[string]dataflow.LastReportedCall{},
		AckedCorrectionCountByToken: map[string]int{}, CorrectionsByToken: map[string][]approval.SteeringPayload{},
		RunTool: runDefaultTool,
	}
	for _, tool := range s.Idea.Tools {
		s.Bindings[tool.Name] = ideafile.ToolBinding{Kind: ideafile.KindGo}
	}
	s.Bindings["think"] = ideafile.ToolBinding{Kind: ideafile.KindLatent}
	s.Loop = loop.New(s.Idea, "p", s.Bindings, StartTime)
	s.Loop.IsPart = isPart
	s.StartInstances(s.Idea.InstanceTokens())
	return s
}

// runDefaultTool returns the parameter x, if there is one.
func runDefaultTool(tool string, params jsonval.Object) (any, *diag.Fault) {
	if tool == "fail" {
		return nil, diag.Faultf(ideafile.CodeToolFailed, "no luck")
	}
	if x, ok := params["x"]; ok {
		return x, nil
	}
	return tool + " done", nil
}

// StartInstances starts the dataflow of instances.
func (s *Scenario) StartInstances(tokens []string) {
	for _, token := range tokens {
		s.InstanceByToken[token] = dataflow.New(s.palette(), s.Loop.Idea.Context, token)
		s.ReportedCallsByToken[token] = map[string]dataflow.LastReportedCall{}
		s.InstanceByToken[token].StartDirectPlan()
	}
}

func (s *Scenario) palette() ideafile.Palette {
	return ideafile.Palette{Tools: s.Idea.Tools, BindingByTool: s.Bindings,
		ApprovalOversight:  s.Idea.Config.ApprovalOversight,
		AdaptValuesWithLLM: s.Idea.Config.AdaptValuesWithLLM}
}

// RunDirectPlans runs the directly run Plans of all instances until they are idle, and delivers their reports.
func (s *Scenario) RunDirectPlans() {
	for _, inst := range s.Loop.Instances {
		if s.InstanceByToken[inst.Token].HasDirectPlan() && inst.Status == ideafile.InstanceWorking {
			s.runAndReport(inst.Token, 0)
		}
	}
}

// TwoInstancesContext is a context in which ① has a 1 and ② a 2.
const TwoInstancesContext = `"context": [{"type": "state", "_instance": "①", "state": {"a": 1}}, {"type": "state", "_instance": "②", "state": {"a": 2}}]`

// continueAsNew carries the loop and the instances over to new runs of their workflows. A test must not notice.
func (s *Scenario) continueAsNew() {
	oldLoop := s.Loop
	s.Loop = ContinueLoopAsNew(s.T, s.Idea, s.Bindings, oldLoop)
	s.Loop.IsPatched, s.Loop.IsPart = oldLoop.IsPatched, oldLoop.IsPart
	for token, instance := range s.InstanceByToken {
		s.InstanceByToken[token] = ContinueInstanceAsNew(s.T, instance)
	}
}
