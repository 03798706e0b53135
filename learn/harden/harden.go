package harden

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"processidea/learn/past"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Difference is something that the runs do not have in common, with the instances in which it differs.
type Difference struct {
	Description string `json:"what"`
	// DecisionNeeded is what a person has to decide. IdeaPath is the place in the Idea at which they write it, such as
	// context[1].plan[0].amount; it is empty if there is no Idea. If a Plan with that decision is run, it can be
	// hardened as it is.
	DecisionNeeded string   `json:"decide"`
	IdeaPath       string   `json:"where,omitempty"`
	Instances      []string `json:"instances,omitempty"`
	location       valueLocation
}

// Advice says what to decide, and where.
func (n Difference) Advice() string {
	if n.IdeaPath == "" {
		return n.DecisionNeeded
	}
	return n.DecisionNeeded + ": " + n.IdeaPath
}

// String returns one line of text.
func (n Difference) String() string {
	if len(n.Instances) == 0 {
		return n.Description
	}
	return n.Description + " (in " + diag.SummarizeNames(n.Instances) + ")"
}

// Result is what the runs have in common. If Differences is empty, the Idea's Plan is marked optimal, and replaying it
// has led to the final State of every instance. Notes name what was left out without loss.
type Result struct {
	Idea        jsonval.Object `json:"idea"`
	Differences []Difference   `json:"particulars"`
	Notes       []string       `json:"notes"`
}

// ErrNothingCommon is wrapped by the error if no Plan can be made of the processes.
var ErrNothingCommon = errors.New("there is no Plan to write")

// Harden finds the Plan that finished processes have in common. With asTemplate, the Idea leaves out the data that the
// first process started with. Nothing is guessed: a difference that the data do not explain is listed in Differences.
// An error names a process that cannot be read, has not finished, or has another palette. If the processes have no Call
// in common, the error wraps ErrNothingCommon, and the Result has no Idea and says why.
func Harden(runs []past.RecordedProcess, bindingByTool map[string]ideafile.ToolBinding,
	asTemplate bool) (*Result, error) {
	h := &hardener{bindingByTool: bindingByTool, notes: []string{}, isPresentAtStartByRef: map[string]bool{}}
	for _, run := range runs {
		if err := h.readRun(run); err != nil {
			return nil, fmt.Errorf("model: harden %s: %w", run.ProcessID, err)
		}
	}
	if len(h.instances) == 0 {
		return &Result{Differences: []Difference{}, Notes: h.notes},
			fmt.Errorf("model: harden: %w: no instance settled; mend what made them fail, and "+
				"run it again", ErrNothingCommon)
	}
	h.assignInstanceNames(len(runs) > 1)
	h.alignCalls()
	h.generalizeCalls()
	h.keepUntriedConditions()
	h.verifyPlanByReplay()
	h.dropInvalidCallsAndOutput()
	h.noteUnconfirmedLiterals()
	result := &Result{Differences: mergeDifferences(h.differences), Notes: h.notes}
	if len(h.mergedCalls) == 0 {
		return result, fmt.Errorf("model: harden: %w: %s", ErrNothingCommon, h.noCallsReason())
	}
	result.Idea = h.buildIdea(asTemplate)
	for n := range result.Differences {
		result.Differences[n].IdeaPath = h.ideaPathOf(result.Differences[n].location, result.Idea)
	}
	return result, nil
}

// ideaPathOf is where in the Idea a value is written. For a value of a Call that is in no Plan, it is the first Plan.
func (h *hardener) ideaPathOf(location valueLocation, idea jsonval.Object) string {
	plans := h.dividePlans()
	firstPlanIndex := len(jsonval.AsList(idea["context"])) - len(plans)
	if location.ownerLabel == outputLabel {
		return fmt.Sprintf("context[%d].output", firstPlanIndex)
	}
	for k, p := range plans {
		if n := slices.Index(p.calls, location.call); n >= 0 {
			callPath := fmt.Sprintf("context[%d].plan[%d]", firstPlanIndex+k, n)
			return strings.TrimSuffix(callPath+"."+location.path.String(), ".")
		}
	}
	return fmt.Sprintf("context[%d].plan", firstPlanIndex)
}

// hardener collects what finished processes have in common.
type hardener struct {
	bindingByTool         map[string]ideafile.ToolBinding
	processes             []*processRun
	instances             []*instanceRun
	mergedCalls           []*mergedCall // the Plan's Calls, in order
	differences           []Difference
	notes                 []string
	planOutput            any // the Plan's output
	hasPlanOutput         bool
	isPresentAtStartByRef map[string]bool // by Reference: whether every instance has a value there at the start
}

// processRun is a finished process that has been read.
type processRun struct {
	ProcessID           string
	firstIdea, lastIdea *ideafile.Idea
	chains              []*past.Chain // of the process and of its parts
	instances           []*instanceRun
}

// instanceRun is one instance from start to end.
type instanceRun struct {
	process       *processRun
	chain         *past.Chain
	instanceToken string
	displayName   string
	startView     ideafile.InstanceView
	finalState    any // State at the end
	recordedCalls []*recordedCall
	startMessages []ideafile.Message // the data Messages that the instance saw at the start
}

// recordedCall is one Call in one instance.
type recordedCall struct {
	past.Call
	rawCall              jsonval.Object // without the condition that it had in a Plan
	parsedCall           ideafile.Call
	actualParams         jsonval.Object // its parameters when it ran; nil if they are unknown
	pathsReadByCondition []jsonval.Path // what its condition read, in a Plan that ran directly
}

// mergedCall is a Call of the common Plan, with the records of the instances that had it.
type mergedCall struct {
	key                alignmentKey
	pastCallByInstance map[*instanceRun]*recordedCall
	rawCall            jsonval.Object // as written in the Plan, without its condition
	variantParamsJSON  string         // the parameters by which it differs from other Calls with its key
	condition          *callCondition // nil: it runs in every instance
	noConditionReason  string         // why no condition was found
	untriedCall        *recordedCall  // the Call of a Plan that ran directly, if no instance recorded it
	isFallback         bool           // it is an alternative of a Call whose condition is kept
}

// alignmentKey identifies the Calls of different instances that become one Call of the Plan: the nth with a tool,
// output path and method.
type alignmentKey struct {
	tool, outputPath, outputMethod string
	occurrenceNumber               int
}

// noCallsReason says why no Call is left.
func (h *hardener) noCallsReason() string {
	if len(h.differences) == 0 {
		return "no Call ran in " + diag.SummarizeNames(instanceNames(h.instances))
	}
	// The Calls of a split process may come in another order, but the reason must be the same.
	firstDifference := slices.MinFunc(h.differences, func(a,
		b Difference) int {
		return strings.Compare(a.String(), b.String())
	})
	return "nothing can be generalised: " + firstDifference.String() + "; decide " + firstDifference.DecisionNeeded
}

func (h *hardener) assignInstanceNames(hasManyProcesses bool) {
	for _, instance := range h.instances {
		switch {
		case instance.instanceToken == "":
			instance.displayName = instance.process.ProcessID
		case hasManyProcesses:
			instance.displayName = instance.process.ProcessID + "/" + instance.instanceToken
		default:
			instance.displayName = instance.instanceToken
		}
	}
}

// addDifference records something that the instances do not have in common, and what a person has to decide. If the
// first of args is a Call or a valueLocation, the difference is about it.
func (h *hardener) addDifference(instances []*instanceRun, decisionNeeded, format string, args ...any) {
	difference := Difference{Description: fmt.Sprintf(format, args...), DecisionNeeded: decisionNeeded}
	if len(args) > 0 {
		difference.location, _ = args[0].(valueLocation)
		if c, ok := args[0].(*mergedCall); ok {
			difference.location.call = c
		}
	}
	difference.Instances = instanceNames(instances)
	h.differences = append(h.differences, difference)
}

func (h *hardener) addNote(format string, args ...any) {
	h.notes = append(h.notes, fmt.Sprintf(format, args...))
}

// mergeDifferences returns every difference once, with all its instances.
func mergeDifferences(list []Difference) []Difference {
	mergedDifferences := []Difference{}
	for _, difference := range list {
		n := slices.IndexFunc(mergedDifferences,
			func(d Difference) bool { return d.Description == difference.Description })
		if n < 0 {
			mergedDifferences = append(mergedDifferences, difference)
			continue
		}
		mergedDifferences[n].Instances = jsonval.AppendNew(mergedDifferences[n].Instances, difference.Instances...)
	}
	return mergedDifferences
}
