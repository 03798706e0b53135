package dataflow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/dataflow"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/modeltest"
	"processidea/model/refexpr"
)

// TestRunTranscripts plays the files under testdata/run. A file holds scenes, each begun by its rule:
//
//	== A Call whose output path is closed is skipped
//	state {"a": 1}
//	call do -> a
//	  1.1 skipped: the path was closed by start
//
// A line that is not indented is a step, the indented ones below it are what it leads to. The steps are:
//
//	state, schema, input JSON       what the instance starts with
//	call TOOL {PARAMS} -> PATH      accept a Call, as the next one of its Request; a method may stand behind the path
//	raw JSON                        accept a Call written out
//	close                           end the Request; the next Call begins another
//	done ID JSON, fail ID           end a running Call
//	approve, reject, amend, replace, answer ID JSON
//	                                a person decides; JSON is the rest of the signal
//	combined ID JSON, misfit ID     end the update of what is stored; JSON is what stands at each of the Call's paths after it
//	later DURATION                  time passes
//	revise JSON                     a person corrects State, or, with a list of messages, more
//	unsure ID                       nobody knows whether a Call had its effect
//	wants ID                        a tool asks for more than it was given
//	pending                         what a person is shown
//	accept REQUEST INDEX JSON       accept a Call at any place, and say whether it was taken
//	show, quiet, writes             look
func TestRunTranscripts(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/run/*.txt")
	if len(files) == 0 {
		t.Fatal("there are no transcripts")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var now []string
		for _, text := range strings.Split("\n\n"+strings.TrimSpace(string(text)), "\n\n== ")[1:] {
			title, body, _ := strings.Cut(text, "\n")
			got := playScene(t, body, func(r *dataflow.Instance) *dataflow.Instance { return r })
			now = append(now, "== "+title+"\n"+got)
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+title, func(t *testing.T) {
				if got != strings.TrimSpace(body)+"\n" && !*modeltest.UpdateTranscripts {
					t.Errorf("%s\n%s", file, modeltest.Diff(body, got))
				}
				if carried := playScene(t, body,
					func(r *dataflow.Instance) *dataflow.Instance {
						return modeltest.ContinueInstanceAsNew(t, r)
					}); carried != got {
					t.Errorf("%s, carried on after every step\n%s", file, modeltest.Diff(got, carried))
				}
			})
		}
		if *modeltest.UpdateTranscripts {
			if err := os.WriteFile(file, []byte(strings.Join(now, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// sceneTools are the Tools of the transcripts: do is run by code and takes anything, change may update, see has scopes,
// count takes a whole number, think is latent.
const sceneTools = `{
	"do":     {"_activity": "do"},
	"change": {"_activity": "do", "_outputMethod": {"type": "string"}},
	"see":    {"_activity": "do", "_scopes": {"type": "array"}},
	"count":  {"_activity": "do", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
	"think":  {"_output": {"type": "string"}},
	"pay":    {"_activity": "do", "properties": {"n": {"type": "integer"}}, "_output": {"type": "string"}, "_approval": true},
	"large":  {"_activity": "do", "properties": {"n": {}}, "_approval": {"when": {"properties": {"n": {"minimum": 100}}}, "allow": ["approve", "amend"]}},
	"odd":    {"_activity": "do", "_approval": {"when": {"pattern": "("}}},
	"late":   {"_activity": "do", "_approval": {"timeout": "1h"}},
	"lax":    {"_activity": "do", "_approval": {"timeout": "2h", "onTimeout": "approve"}},
	"wait":   {"_activity": "do", "_approval": {"timeout": "1h", "onTimeout": "pause"}},
	"tally":  {"_activity": "do", "_outputPath": "†state.list", "_outputMethod": "push", "_approval": true},
	"muse":   {"_output": {"type": "string"}, "_approval": true}
}`

// scene is an instance that is driven by a transcript.
type scene struct {
	t              *testing.T
	context        []ideafile.Message
	run            *dataflow.Instance
	request, index int
	open           bool
	told           map[string]string // what was last said of each Call
	now            time.Time
	updates        map[string]dataflow.BlobUpdate              // the latest of each Call
	between        func(*dataflow.Instance) *dataflow.Instance // what is done to the instance after every step
}

func playScene(t *testing.T, body string, between func(*dataflow.Instance) *dataflow.Instance) string {
	s := &scene{t: t, request: 0, told: map[string]string{}, updates: map[string]dataflow.BlobUpdate{},
		now: modeltest.StartTime, between: between}
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(body, "\n"), "\n") {
		if strings.HasPrefix(line, "  ") {
			continue // said by an earlier play
		}
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, said := range s.step(line) {
			out.WriteString("  " + said + "\n")
		}
		if s.run != nil {
			s.run = s.between(s.run)
		}
	}
	return out.String()
}

func (s *scene) step(line string) []string {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "state", "input", "schema":
		m := map[string]any{"type": verb, verb: modeltest.MustDecodeJSON(rest)}
		if verb == "schema" {
			m = map[string]any{"type": "state", "schema": modeltest.MustDecodeJSON(rest)}
		}
		s.context = append(s.context, modeltest.MessagesFrom(s.t, string(jsonval.Encode([]any{m})))...)
		return nil
	}
	if s.run == nil {
		s.run = dataflow.New(*modeltest.PaletteFrom(s.t, sceneTools), s.context, "")
		s.run.SetTime(s.now)
	}
	switch verb {
	case "call":
		s.accept(callFrom(rest))
	case "raw":
		s.accept(modeltest.MustDecodeJSON(rest))
	case "close":
		s.run.CloseRequest(s.request)
		s.open = false
	case "done":
		id, value, _ := strings.Cut(rest, " ")
		s.run.SucceedCall(id, modeltest.MustDecodeJSON(value))
	case "fail":
		s.run.FailCall(rest, diag.Faultf(ideafile.CodeToolFailed, "it said no"))
	case "combined":
		id, values, _ := strings.Cut(rest, " ")
		u := s.updates[id]
		delete(s.updates, id)
		s.run.ApplyBlobUpdate(u, modeltest.MustDecodeJSON(values).([]any))
	case "misfit":
		delete(s.updates, rest)
		s.run.FailBlobUpdate(rest, diag.Faultf(ideafile.CodeBadOutput, "it does not fit"))
	case "later":
		d, err := time.ParseDuration(rest)
		if err != nil {
			s.t.Fatal(err)
		}
		s.now = s.now.Add(d)
		s.run.SetTime(s.now)
		s.run.ApplyDeadlines()
		return s.paused()
	case "lacks":
		s.run.PostponeCall(rest, diag.Faultf(ideafile.CodeToolAccessDenied, "it may not"))
		return s.paused()
	case policy.Approve, policy.Reject, policy.Amend, policy.Replace, policy.Answer:
		id, more, _ := strings.Cut(rest, " ")
		m := map[string]any{"call": id, "by": "ann"}
		if more != "" {
			m = jsonval.DeepMerge(m, modeltest.MustDecodeJSON(more)).(map[string]any)
		}
		d, err := approval.ReadDecision(verb, m)
		if err == nil {
			err = s.run.ApplyDecision(d)
		}
		if err != nil {
			return append([]string{"refused: " + err.Error()}, s.happened()...)
		}
	case "revise":
		if !strings.HasPrefix(rest, "[") {
			rest = `[{"type":"state","state":` + rest + `}]`
		}
		s.run.ApplyRevision(modeltest.MessagesFrom(s.t, rest), "ann", "")
	case "unsure":
		s.run.RequireUnknownOutcomeReview(rest, "the worker was lost")
	case "wants":
		s.run.RequireResultFromPerson(rest, "how many?")
	default:
		return s.look(verb, rest)
	}
	return s.happened()
}

// paused is what happened, behind why the process must pause.
func (s *scene) paused() []string {
	if f := s.run.TakePauseFault(); f != nil {
		return append([]string{"must pause: " + f.Error()}, s.happened()...)
	}
	return s.happened()
}

func (s *scene) look(verb, rest string) []string {
	switch verb {
	case "accept":
		var request, index int
		var raw string
		if _, err := fmt.Sscanf(rest, "%d %d %s", &request, &index, &raw); err != nil {
			s.t.Fatalf("accept %s: %s", rest, err)
		}
		s.request = request
		taken := s.run.AcceptCall(request, index, ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(raw)))
		return append([]string{fmt.Sprintf("taken: %v", taken)}, s.happened()...)
	case "show":
		return []string{"state " + string(jsonval.Encode(s.run.State()))}
	case "pending":
		var lines []string
		for _, p := range s.run.PendingApprovals() {
			p.Digest = p.Digest[:4] + "…"
			lines = append(lines, string(jsonval.Encode(jsonval.ToJSONValue(p))))
		}
		return lines
	case "quiet":
		return []string{fmt.Sprint(s.run.IsIdle())}
	case "writes":
		var lines []string
		for _, w := range s.run.StateWrites() {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s wrote %s %s %s", w.Author,
				refexpr.Reference{Kind: ideafile.TypeState, Path: w.Path}, w.OutputMethod, jsonval.Encode(w.Value))))
		}
		return lines
	}
	s.t.Fatalf("a transcript has no step %q", verb)
	return nil
}

func (s *scene) accept(raw any) {
	if !s.open {
		s.request, s.index, s.open = s.request+1, 0, true
	}
	s.index++
	if !s.run.AcceptCall(s.request, s.index, ideafile.ParseWrittenCall(raw)) {
		s.t.Fatalf("Call %d.%d was not taken", s.request, s.index)
	}
}

// callFrom reads TOOL {PARAMS} -> PATH METHOD; all but the Tool may be missing.
func callFrom(text string) any {
	left, right, _ := strings.Cut(text, " -> ")
	tool, params, _ := strings.Cut(left, " ")
	call := map[string]any{}
	if params != "" {
		call = modeltest.MustDecodeJSON(params).(map[string]any)
	}
	call["_tool"] = tool
	path, method := right, ""
	if at := strings.LastIndex(right, " "); at > 0 && !strings.ContainsAny(right[at-1:at], "|&") {
		path, method = right[:at], right[at+1:]
	}
	if path != "" {
		call["_outputPath"] = path
	}
	if method != "" {
		call["_outputMethod"] = method
	}
	return call
}

// happened runs what may run and says what became of every Call since it was asked last, in Plan order.
func (s *scene) happened() []string {
	var lines []string
	var last *dataflow.CallRecord
	for _, ready := range s.run.Advance() {
		if last != nil && slices.Compare([]int{last.Request, last.Index},
			[]int{ready.Record.Request, ready.Record.Index}) >= 0 {
			s.t.Errorf("%s was given before %s", last.ID, ready.Record.ID)
		}
		last = ready.Record
		line := fmt.Sprintf("%s starts %s", ready.Record.ID, jsonval.Encode(ready.Params))
		if ready.ScopeValues != nil {
			line += fmt.Sprintf(" in sight of %s", jsonval.Encode(ready.ScopeValues))
		}
		s.told[ready.Record.ID] = string(ideafile.CallRunning)
		lines = append(lines, line)
	}
	for _, u := range s.run.TakeBlobUpdates() {
		if _, underWay := s.updates[u.CallID]; !underWay { // an instance that was restored hands it out again
			s.updates[u.CallID] = u
		}
	}
	for _, rec := range s.run.CallRecords() {
		if now := s.fate(rec); now != s.told[rec.ID] {
			s.told[rec.ID] = now
			lines = append(lines, rec.ID+" "+now)
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int { return s.place(a) - s.place(b) })
	return lines
}

func (s *scene) place(line string) int {
	id, _, _ := strings.Cut(line, " ")
	return slices.IndexFunc(s.run.CallRecords(), func(r *dataflow.CallRecord) bool { return r.ID == id })
}

func (s *scene) fate(rec *dataflow.CallRecord) string {
	now := string(rec.Status)
	switch {
	case rec.Phase() == "askingLLM", rec.Phase() == "adapting":
		params, err := s.run.ResolvedParams(rec)
		if err != nil {
			s.t.Errorf("%s asks and cannot be resolved: %s", rec.ID, err)
		}
		return "asks " + string(jsonval.Encode(params))
	case rec.PendingApproval != nil:
		now += " " + string(jsonval.Encode(jsonval.ToJSONValue(rec.PendingApproval.Params)))
	case rec.Phase() == "resultPending":
		return "has its result and waits to land"
	case rec.Phase() == "combining":
		var updates []string
		for _, u := range s.updates[rec.ID].Updates {
			updates = append(updates, fmt.Sprintf("%s to %s", jsonval.Encode(u.ResultValue),
				jsonval.Encode(u.OldValue)))
		}
		return "has " + s.updates[rec.ID].OutputMethod + " done by an activity: " + strings.Join(updates, ", ")
	case rec.UntakenBranchReference != "":
		now += ": " + rec.SkippedBecauseOf + " left " + rec.UntakenBranchReference
	case rec.Status == ideafile.CallSkipped:
		now += ": the path was closed by " + rec.SkippedBecauseOf
	case rec.Status == ideafile.CallBlocked:
		now += ": " + rec.Fault.Message
	case rec.Fault != nil:
		now += ": " + rec.Fault.Error()
	case rec.Result != nil:
		now += ": " + string(jsonval.Encode(rec.Result))
	}
	return now
}

// While the process may still send the rest of a Request, nothing of it counts as what can never come.
func TestARequestThatIsRefusedStaysOpenForTheRestOfIt(t *testing.T) {
	t.Parallel()
	palette := modeltest.PaletteFrom(t, `{"work": {"type": "object", "properties": {"x": {}}}}`)
	palette.BindingByTool = map[string]ideafile.ToolBinding{"work": {Kind: ideafile.KindGo}}
	i := dataflow.New(*palette, nil, "")
	i.AcceptCall(
		1, 1, ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(`{"_tool":"work","x":"†state.a","_outputPath":"b"}`)))
	i.StopAcceptingCalls(1)
	call := ideafile.ParseWrittenCall(modeltest.MustDecodeJSON(`{"_tool":"work","_outputPath":"a"}`))
	if i.AcceptCall(1, 2, call) {
		t.Error("what was refused is taken")
	}
	i.Advance()
	if !i.HasOpenRequest() || i.FindCall("1.1").Status != ideafile.CallWaiting {
		t.Errorf("1.1 is %s", i.FindCall("1.1").Status)
	}
	if !i.AcceptRestOfRequest(1, 2, call) || i.AcceptRestOfRequest(1, 2, call) {
		t.Error("the rest is not taken once")
	}
	i.CloseRequest(1)
	if i.AcceptRestOfRequest(1, 3, call) {
		t.Error("something is taken once it is closed")
	}
	if ready := i.Advance(); len(ready) != 1 || ready[0].Record.ID != "1.2" {
		t.Errorf("%v starts", ready)
	}
}
