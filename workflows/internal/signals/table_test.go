package signals

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.temporal.io/sdk/workflow"

	"processidea/model/approval"
	"processidea/model/approval/policy"
)

// steeringKinds are the kinds of steering signals that package loop knows: the values of its constants Steer….
func steeringKinds(t *testing.T) (kinds []string) {
	t.Helper()
	err := filepath.WalkDir("../../../model", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for n, name := range spec.Names {
				if !strings.HasPrefix(name.Name, "Steer") {
					continue
				}
				if n >= len(spec.Values) {
					t.Errorf("%s: the kind of %s is no text of its own", path, name.Name)
					continue
				}
				literal, isLiteral := spec.Values[n].(*ast.BasicLit)
				if !isLiteral || literal.Kind != token.STRING {
					t.Errorf("%s: the kind of %s is no text of its own", path, name.Name)
					continue
				}
				kind, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Error(err)
				}
				kinds = append(kinds, kind)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

func TestEveryKindThatTheModelKnowsIsHandledOnceAndNoOther(t *testing.T) {
	t.Parallel()
	steering := steeringKinds(t)
	if len(steering) < 4 || !slices.Contains(steering, approval.SteerPause) {
		t.Fatalf("the model's steering signals were not found, only %q", steering)
	}
	onCalls := slices.Concat(policy.DecisionKinds(), approval.RemarkKinds())
	want := slices.Concat(onCalls, steering)
	var got []string
	for _, s := range signalKinds {
		got = append(got, s.name)
		if s.isDecision != (approval.IsRemark(s.name) || slices.Contains(onCalls, s.name)) {
			t.Errorf("%s: decides is %v", s.name, s.isDecision)
		}
		if s.description == "" {
			t.Errorf("%s has no description for the Temporal UI", s.name)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the table handles %q, the model knows %q", got, want)
	}
}

// payloads are valid, by kind. A kind without one fails the test below.
var payloads = map[string]map[string]any{
	policy.Approve:                  {"call": "1.1"},
	policy.Reject:                   {"call": "1.1", "reason": "no"},
	policy.Amend:                    {"call": "1.1", "params": map[string]any{}},
	policy.Replace:                  {"call": "1.1", "with": map[string]any{"_tool": "t"}},
	policy.Answer:                   {"call": "1.1", "output": 1},
	approval.Comment:                {"call": "1.1", "by": "ann", "reason": "late"},
	approval.Ask:                    {"call": "1.1", "by": "ann", "reason": "late?"},
	approval.HandOver:               {"call": "1.1", "by": "ann", "to": "bob"},
	approval.SteerDecideMany:        {"decisions": []any{map[string]any{"call": "1.1", "decision": "approve"}}},
	approval.SteerGiveStandingOrder: {"id": "o", "tool": "t", "count": json.Number("1")},
	approval.SteerEndStandingOrder:  {"id": "o"},
	approval.SteerDeputy:            {"id": "d", "to": "bob", "until": "2030-01-01T00:00:00Z"},
	approval.SteerApprovePlan:       {"request": json.Number("1")},
	approval.SteerAmendPlan:         {"request": json.Number("1"), "calls": []any{map[string]any{"_tool": "t"}}},
	approval.SteerRejectPlan:        {"request": json.Number("1"), "reason": "no"},
	approval.SteerPause:             {},
	approval.SteerResume:            {},
	approval.SteerRevise:            {"context": []any{map[string]any{"type": "text", "text": "t"}}},
	approval.SteerAddInstances:      {"context": []any{map[string]any{"type": "text", "text": "t", "_instance": "1"}}},
}

func TestEverySignalReachesAMethodOfItsOwnAndEveryMethodIsReached(t *testing.T) {
	t.Parallel()
	reached := map[string]string{} // the kind by the method
	for _, s := range signalKinds {
		p := &recorder{kind: s.name}
		err := s.handle(p, nil, payloads[s.name])
		if err != nil || len(p.called) != 1 {
			t.Fatalf("%s calls %q, %v", s.name, p.called, err)
		}
		method := p.called[0]
		if by, taken := reached[method]; taken && !slices.Contains([]string{"Decide", "DecidePlan", "Allow"}, method) {
			t.Errorf("%s and %s both call %s", by, s.name, method)
		}
		reached[method] = s.name
	}
	if methods := reflect.TypeFor[ProcessHandler]().NumMethod(); len(reached) != methods {
		t.Errorf("%d of %d methods are reached: %v", len(reached), methods, reached)
	}
}

// recorder is a Process that notes which method was called, and is told of decisions of one kind.
type recorder struct {
	kind   string
	called []string
}

func (r *recorder) note(method string) error {
	r.called = append(r.called, method)
	return nil
}

func (r *recorder) noteDecision(method string, d approval.Decision) error {
	if d.Kind != r.kind {
		r.called = append(r.called, "another decision")
	}
	return r.note(method)
}

func (r *recorder) Decide(_ workflow.Context, _ map[string]any, d approval.Decision) error {
	return r.noteDecision("Decide", d)
}
func (r *recorder) DecideMany(workflow.Context, approval.DecisionBatch) error {
	return r.note("DecideMany")
}
func (r *recorder) Allow(workflow.Context, approval.StandingOrder) error { return r.note("Allow") }
func (r *recorder) Disallow(workflow.Context, string, approval.SteeringPayload) error {
	return r.note("Disallow")
}
func (r *recorder) DecidePlan(_ workflow.Context, _ map[string]any, d approval.Decision) error {
	return r.noteDecision("DecidePlan", d)
}
func (r *recorder) Pause(workflow.Context, approval.SteeringPayload) error  { return r.note("Pause") }
func (r *recorder) Resume(workflow.Context, approval.SteeringPayload) error { return r.note("Resume") }
func (r *recorder) Revise(workflow.Context, approval.SteeringPayload) error { return r.note("Revise") }
func (r *recorder) AddInstances(workflow.Context, approval.SteeringPayload) error {
	return r.note("Add")
}
func (r *recorder) Undo(workflow.Context, approval.SteeringPayload) error { return r.note("Undo") }
