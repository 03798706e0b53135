package split

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"processidea/model/approval"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/model/quality"
	"processidea/model/turn"
)

// DefaultMaxWorkingParts bounds the parts that work at a time if the file does not (`config.partsAtOnce`): the parts
// share the LLM, and the more parts work, the fewer reports one workflow task takes. Parts that only wait for people do
// not count.
const DefaultMaxWorkingParts = 3

// Process is a process with more instances than one Request may cover, split into parts that are processes themselves.
// It is plain data, which a workflow carries over as it is.
type Process struct {
	InstancesPerPart int                 `json:"size"`                  // at most, in parts that have not begun
	RequestSize      quality.RequestSize `json:"sizes,omitzero"`        // how InstancesPerPart was chosen
	MaxWorkingParts  int                 `json:"partsAtOnce,omitempty"` // 0: DefaultMaxWorkingParts
	// MaxInstancesPerPart bounds how far InstancesPerPart may grow, by the file or by what studies found good.
	MaxInstancesPerPart int `json:"mostPerPart,omitempty"`
	// DisagreementLimit and OnDisagreementLimit are those of the file (`config.quality`); OnDisagreementLimit is empty if it has none.
	DisagreementLimit        float64 `json:"qualityLimit,omitempty"`
	OnDisagreementLimit      string  `json:"onLimit,omitempty"`
	HasPausedForDisagreement bool    `json:"disagreed,omitempty"`
	// Undo is the undo under way in parts; nil: none. UndoCount counts the undos so far.
	Undo        *OngoingUndo    `json:"undo,omitempty"`
	UndoCount   int             `json:"undos,omitempty"`
	Parts       []Part          `json:"list"`
	StartedAt   time.Time       `json:"started"`
	Limits      ideafile.Limits `json:"limits"`
	ParentQuota turn.Quota      `json:"quota"` // granted by the process of which this one is a delegate
	PauseReason *diag.Fault     `json:"paused,omitempty"`
	// OwnReport counts what the process itself did beside its parts, and has its output.
	OwnReport PartReport `json:"extra"`
	// BadOutputsInRow counts the Requests for the output that brought none, WorkerLossesInRow those that were lost with
	// their worker. The next such Request reports OutputErrors.
	BadOutputsInRow   int                 `json:"asks,omitempty"`
	OutputErrors      []turn.ContextError `json:"outputErrors,omitempty"`
	WorkerLossesInRow int                 `json:"lost,omitempty"`
	// AreOutputWiringsRefused means that the Wirings of the parts make no valid output.
	AreOutputWiringsRefused bool `json:"wiringsRefused,omitempty"`
	// UnsealedLog has people's decisions on the whole process since its latest Idea, LLMUsages the LLMs that have
	// answered it since.
	UnsealedLog []turn.LogEntry `json:"log,omitempty"`
	LLMUsages   []turn.LLMUsage `json:"answers,omitempty"`
}

// Part is some of the instances, and the last report of their process.
type Part struct {
	Number         int        `json:"number"` // from 1
	InstanceTokens []string   `json:"tokens"`
	HasStarted     bool       `json:"started,omitempty"`
	Report         PartReport `json:"report,omitzero"`
	// LastGatheredIdeaNumber is the latest of the part's Ideas that the latest Idea of the whole includes.
	LastGatheredIdeaNumber int `json:"gathered,omitempty"`
	// InstanceCapacity is how many instances the part could have; it may have fewer Tokens.
	InstanceCapacity int `json:"size,omitempty"`
	// GrantedQuota is the part's share of the limits.
	GrantedQuota turn.Quota `json:"quota"`
	// ResumeCount counts how often the part was resumed.
	ResumeCount int `json:"resumes,omitempty"`
}

// New splits a process into parts of a size. It returns nil if one Request can cover all its instances.
func New(idea *ideafile.Idea, size quality.RequestSize, now time.Time) *Process {
	tokens := idea.InstanceTokens()
	if len(tokens) <= size.Initial {
		return nil
	}
	p := &Process{InstancesPerPart: size.Initial, RequestSize: size, MaxWorkingParts: idea.Config.MaxConcurrentParts,
		StartedAt: now, Limits: idea.Config.Limits, ParentQuota: turn.Unlimited,
		DisagreementLimit:   idea.Config.Quality.DisagreementLimit,
		OnDisagreementLimit: idea.Config.Quality.DisagreementLimitAction}
	if p.MaxInstancesPerPart = size.Initial; idea.Config.MaxInstancesPerPart == 0 {
		p.MaxInstancesPerPart = quality.RequestSizeForSharedCalls
	}
	p.AddInstances(tokens)
	if out := jsonval.Lookup(idea.Source, "solution", "output"); out != nil && idea.OutputSchema != nil &&
		ideafile.AllInstancesEnded(idea.Context, tokens) &&
		(jsonval.ContainsBlobHandle(out) || idea.OutputSchema.Validate(out) == nil) {
		p.OwnReport.Output = out // final: every instance had ended in the earlier process
	}
	return p
}

// AddInstances adds parts for more instances. The output must then be made anew.
func (p *Process) AddInstances(tokens []string) {
	p.OwnReport.Output, p.OwnReport.OutputWirings, p.OwnReport.Error, p.OutputErrors, p.AreOutputWiringsRefused = nil,
		nil,
		nil, nil, false
	p.addParts(tokens)
}

func (p *Process) addParts(tokens []string) {
	for len(tokens) > 0 {
		n := min(p.InstancesPerPart, len(tokens))
		p.Parts = append(p.Parts, Part{Number: len(p.Parts) + 1, InstanceTokens: tokens[:n:n],
			GrantedQuota:     turn.Unlimited,
			InstanceCapacity: p.InstancesPerPart})
		tokens = tokens[n:]
	}
}

// PartNumberOf returns the number of the part that an instance belongs to; 0 if none.
func (p *Process) PartNumberOf(token string) int {
	for _, part := range p.Parts {
		if slices.Contains(part.InstanceTokens, token) {
			return part.Number
		}
	}
	return 0
}

// InstanceTokens lists the instances of all parts.
func (p *Process) InstanceTokens() (tokens []string) {
	for _, part := range p.Parts {
		tokens = append(tokens, part.InstanceTokens...)
	}
	return tokens
}

// FindInstanceToken returns the token of the instance that a word names, in either spelling; empty if it names none.
func (p *Process) FindInstanceToken(name string) string {
	if p.PartNumberOf(name) > 0 {
		return name
	}
	token, _ := spelling.FindInstanceToken(p.InstanceTokens(), name)
	return token
}

// PendingApprovals lists the Calls that wait for a person.
func (p *Process) PendingApprovals() []approval.PendingCall {
	var list []approval.PendingCall
	for _, part := range p.Parts {
		list = append(list, part.Report.PendingApprovals...)
	}
	return list
}

// ApplyReport applies a part's report, unless a later one was applied already. If the part has paused for a reason of
// its own, the whole process pauses: a person must see the reason, and what stops one part mostly stops the others too.
func (p *Process) ApplyReport(r PartReport) {
	if r.PartNumber < 1 || r.PartNumber > len(p.Parts) {
		return
	}
	part := &p.Parts[r.PartNumber-1]
	lastReport := &part.Report
	if r.ReportNumber < lastReport.ReportNumber {
		return
	}
	isPauseOutdated := r.ResumeCount < part.ResumeCount // the part was resumed from the reported pause
	if r.Status == loop.StatusPaused && r.Error != nil && r.AutomaticPauseCount > lastReport.AutomaticPauseCount &&
		p.PauseReason == nil && !isPauseOutdated {
		p.PauseReason = diag.Faultf(r.Error.Code, "part %d: %s", r.PartNumber, r.Error.Message)
	}
	*lastReport = r
	p.applyDisagreementLimit()
}

// TakePartToStart returns the part to start now, or nil, and counts it as started. A part starts only after the part
// before it has reported. A part reports when all its instances have started: by then quick Calls are nearly done, and
// slow ones hold up nothing.
func (p *Process) TakePartToStart() *Part {
	workingCount := 0
	for _, part := range p.Parts {
		switch {
		case !part.HasStarted || part.Report.IsFinished():
		case part.Report.ReportNumber == 0:
			return nil
		case !part.Report.AwaitsOnlyPeople:
			workingCount++
		}
	}
	if workingCount >= cmp.Or(p.MaxWorkingParts, DefaultMaxWorkingParts) || p.PauseReason != nil {
		return nil
	}
	for i := range p.Parts {
		if part := &p.Parts[i]; !part.HasStarted {
			part.HasStarted = true
			return part
		}
	}
	return nil
}

// TakePartsToResume lists the parts that have started and not ended, and counts one more resume for each.
func (p *Process) TakePartsToResume() (partNumbers []int) {
	partNumbers = p.RunningPartNumbers()
	for _, number := range partNumbers {
		p.Parts[number-1].ResumeCount++
	}
	return partNumbers
}

// RunningPartNumbers lists the numbers of the parts that have started and not ended.
func (p *Process) RunningPartNumbers() (partNumbers []int) {
	for _, part := range p.Parts {
		if part.HasStarted && !part.Report.IsFinished() {
			partNumbers = append(partNumbers, part.Number)
		}
	}
	return partNumbers
}

// IsFinished reports whether every part has ended.
func (p *Process) IsFinished() bool {
	return !slices.ContainsFunc(p.Parts, func(part Part) bool { return !part.Report.IsFinished() })
}

// IsAtRest reports whether every part has ended or is at rest (Loop.IsAtRest), and none is to be started.
func (p *Process) IsAtRest() bool {
	for _, part := range p.Parts {
		if (!part.HasStarted && p.PauseReason == nil) ||
			(part.HasStarted && !part.Report.IsFinished() && !part.Report.IsAtRest) {
			return false
		}
	}
	return true
}

// HasUnsealedChanges reports whether the latest Idea of the whole lacks anything that its parts have sealed, or that
// people decided.
func (p *Process) HasUnsealedChanges() bool {
	return len(p.UnsealedLog) > 0 ||
		slices.ContainsFunc(p.Parts,
			func(part Part) bool { return part.Report.IdeaCount > part.LastGatheredIdeaNumber })
}

// LogSteering logs what somebody decided on the whole process.
func (p *Process) LogSteering(d approval.Decision) {
	p.UnsealedLog = append(p.UnsealedLog, turn.LogEntry{Decision: &d})
}

// MarkSealed notes that the Idea with number at includes all that the parts have reported.
func (p *Process) MarkSealed(ideaNumber int) {
	p.OwnReport.IdeaCount, p.UnsealedLog, p.LLMUsages = ideaNumber, nil, nil
	for n := range p.Parts {
		p.Parts[n].LastGatheredIdeaNumber = p.Parts[n].Report.IdeaCount
	}
}

// Result returns the result of the process so far, without States.
func (p *Process) Result(processID string, status loop.Status) loop.ProcessResult {
	r := p.ResultWithoutInstances(processID, status)
	r.Instances = map[string]loop.InstanceResult{}
	for _, part := range p.Parts {
		for _, token := range part.InstanceTokens {
			s, ok := part.Report.StatusByInstance[token]
			if !ok {
				s = ideafile.InstanceWorking
			}
			r.Instances[token] = loop.InstanceResult{
				Status: s, Cost: part.Report.CostByInstance[token],
				FailedCallCount:   part.Report.FailedCallCountByInstance[token],
				RejectedCallCount: part.Report.RejectedCallCountByInstance[token]}
		}
	}
	return r
}

// ResultWithoutInstances returns what Result does of the process as a whole. It takes as long for many instances as for
// few.
func (p *Process) ResultWithoutInstances(processID string, status loop.Status) loop.ProcessResult {
	r := loop.ProcessResult{ProcessID: processID, Status: status, Error: p.PauseReason, Output: p.OwnReport.Output}
	addPartReport := func(part PartReport) {
		r.InstructionStepCounts = r.InstructionStepCounts.Merge(part.InstructionStepCounts)
		r.RequestCount += part.RequestCount
		r.IdeaCount += part.IdeaCount
		r.Calls.Add(part.Calls)
		r.Failures = r.Failures.Merge(part.Failures)
		r.Usage.Add(part.Usage)
		for _, n := range part.UnwrittenResults {
			r.UnwrittenResults = loop.AddUnwrittenResult(r.UnwrittenResults, n)
		}
	}
	addPartReport(p.OwnReport)
	for _, part := range p.Parts {
		addPartReport(part.Report)
	}
	r.Quality = p.Quality()
	if f := p.firstFailure(); f != nil && status == loop.StatusFailed {
		r.Error = f
	}
	return r
}

// FinalStatus returns the status of a process whose parts have all ended.
func (p *Process) FinalStatus() loop.Status {
	if p.firstFailure() != nil {
		return loop.StatusFailed
	}
	return loop.StatusCompleted
}

func (p *Process) firstFailure() *diag.Fault {
	failedCount, firstFault := 0, (*diag.Fault)(nil)
	for _, part := range p.Parts {
		if s := part.Report.Status; s != loop.StatusFailed && s != loop.StatusCancelled {
			continue
		}
		failedCount++
		cause := cmp.Or(part.Report.Error, diag.Faultf(turn.CodeWorkerLost, "it was ended"))
		firstFault = cmp.Or(firstFault, diag.Faultf(cause.Code, "part %d: %s", part.Number, cause.Message))
	}
	if failedCount > 1 {
		firstFault.Message += fmt.Sprintf("; %d of %d parts failed", failedCount, len(p.Parts))
	}
	return cmp.Or(firstFault, p.OwnReport.Error)
}

// wasCancelledOrTerminated reports whether somebody cancelled or terminated the part.
func (part Part) wasCancelledOrTerminated() bool {
	return part.Report.Status == loop.StatusCancelled || len(part.Report.StatusByInstance) == 0
}

func (p *Process) settledInstanceCount() (n int) {
	for _, part := range p.Parts {
		n += part.settledInstanceCount()
	}
	return n
}

func (part Part) settledInstanceCount() (n int) {
	//workflowcheck:ignore -- a count
	for _, s := range part.Report.StatusByInstance {
		if s == ideafile.InstanceSettled {
			n++
		}
	}
	return n
}

func (p *Process) isLLMForbidden() bool {
	return !slices.ContainsFunc(p.Parts, func(part Part) bool { return !part.Report.IsLLMForbidden })
}

// IdeaSource returns the part's Idea, with the shared Messages and those of the part's instances. It has no limits,
// because limits apply to the whole process. x is the index of the Messages of the whole.
func (part Part) IdeaSource(wholeIdea jsonval.Object, x *MessageIndex) jsonval.Object {
	out := jsonval.WithoutKey(wholeIdea, "context")
	var context []any
	for _, raw := range x.MessagesOf(part) {
		if filteredMessage, ok := turn.FilterPlanRecord(raw, part.InstanceTokens); ok {
			context = append(context, filteredMessage)
		}
	}
	out["context"] = context
	solution := jsonval.AsObject(out["solution"])
	// an output beside Calls goes to each part
	if calls := jsonval.AsList(solution["calls"]); solution != nil && len(calls) == 0 {
		out["solution"] = jsonval.WithoutKey(solution, "output") // a final output belongs to the whole
	}
	config := jsonval.WithKey(jsonval.AsObject(out["config"]), "limits",
		jsonval.Object{"calls": nil, "duration": nil, "requests": nil, "tokens": nil})
	// a part is not split again, whatever its size
	if _, isBatchSizeGiven := config["batch"].(json.Number); !isBatchSizeGiven {
		config["batch"] = jsonval.ToJSONValue(len(part.InstanceTokens))
	}
	out["config"] = config
	// rechecks are drawn in each part by itself
	if seed := jsonval.AsText(jsonval.Lookup(wholeIdea, "meta", "seed")); seed != "" {
		out["meta"] = jsonval.WithKey(jsonval.AsObject(wholeIdea["meta"]), "seed",
			fmt.Sprintf("%s/%d", seed, part.Number))
	}
	return out
}
