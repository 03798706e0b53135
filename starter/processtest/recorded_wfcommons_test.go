package processtest_test

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"testing"

	"processidea/model/jsonval"
	"processidea/model/refexpr"
)

// scienceTask is a task of a WfCommons instance.
type scienceTask struct {
	id             string
	parents        []string
	inputs, output []string // ids of files
}

func scienceTasks(v any) (tasks []*scienceTask) {
	list, _ := jsonval.ValueAt(v, jsonval.Path{"workflow", "specification", "tasks"})
	texts := func(v any) []string { l, _ := jsonval.AsStringList(v); return l }
	for _, raw := range list.([]any) {
		m := raw.(map[string]any)
		tasks = append(tasks, &scienceTask{id: jsonval.AsText(m["id"]), parents: texts(m["parents"]),
			inputs: texts(m["inputFiles"]), output: texts(m["outputFiles"])})
	}
	return tasks
}

// scienceFlow is a WfCommons instance as an Idea: a Call for each task, which reads the files that its parents write,
// and waits for the parents of which it reads none.
func scienceFlow(name string, v any) *recordedFlow {
	f := &recordedFlow{name: name, troubles: map[int][]string{}}
	tasks := scienceTasks(v)
	byID := map[string]*scienceTask{}
	for _, task := range tasks {
		byID[task.id] = task
	}
	at := func(path ...string) string { return refexpr.Reference{Kind: "state", Path: path}.String() }
	plan := []any{}
	for n, task := range tasks {
		files, after, read := map[string]any{}, []any{}, map[string]bool{}
		for _, file := range task.inputs {
			files[file] = "given"
			if writer := writerAmong(file, task.parents, byID); writer != "" {
				files[file], read[writer] = at(writer, file), true
			}
		}
		for _, parent := range task.parents {
			if byID[parent] == nil {
				f.trouble(n, "unknown parent: %s", parent)
			}
			if !read[parent] {
				after = append(after, at(parent))
			}
		}
		call := map[string]any{"_tool": "task", "id": task.id, "files": files, "_outputPath": at(task.id)}
		if len(after) > 0 {
			call["_after"] = after
		}
		plan = append(plan, call)
	}
	f.idea = map[string]any{
		"schema": map[string]any{
			"tools": map[string]any{"task": map[string]any{"type": "object", "additionalProperties": false,
				"properties": map[string]any{"id": map[string]any{"type": "string"},
					"files": map[string]any{"type": "object"}},
				"required":  []any{"id", "files"},
				"_activity": "task", "_output": map[string]any{"type": "object"}}}},
		"context": []any{map[string]any{"type": "state", "state": map[string]any{}},
			map[string]any{"type": "plan", "stage": "complete", "plan": plan}}}
	f.play = func(_ string, params map[string]any) any {
		id := jsonval.AsText(params["id"])
		return outcomeOf(byID[id], params["files"])
	}
	f.state = scienceEnd(f, tasks, byID)
	return f
}

// writerAmong is the parent that writes a file.
func writerAmong(file string, parents []string, byID map[string]*scienceTask) string {
	for _, p := range parents {
		if task := byID[p]; task != nil && slices.Contains(task.output, file) {
			return p
		}
	}
	return ""
}

// outcomeOf is what a task gives: of each file a digest of the task and of all that it read.
func outcomeOf(task *scienceTask, files any) any {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s", task.id, jsonval.Encode(files))
	out := map[string]any{"done": fmt.Sprintf("%x", h.Sum64())}
	for _, file := range task.output {
		out[file] = fmt.Sprintf("%x", h.Sum64())
	}
	return out
}

// scienceEnd goes through the tasks one after the other, parents first, and notes those that stand in a circle.
func scienceEnd(f *recordedFlow, tasks []*scienceTask, byID map[string]*scienceTask) any {
	state := map[string]any{}
	for moved := true; moved; {
		moved = false
		for _, task := range tasks {
			if state[task.id] != nil ||
				slices.ContainsFunc(task.parents, func(p string) bool { return state[p] == nil }) {
				continue
			}
			files := map[string]any{}
			for _, file := range task.inputs {
				files[file] = "given"
				if writer := writerAmong(file, task.parents, byID); writer != "" {
					files[file] = state[writer].(map[string]any)[file]
				}
			}
			state[task.id], moved = outcomeOf(task, files), true
		}
	}
	for n, task := range tasks {
		if state[task.id] == nil {
			f.trouble(n, "circle: %s", task.id)
		}
	}
	return state
}

func TestRecordedScientificWorkflowsRunAlikeInWhateverOrderTheirTasksEnd(t *testing.T) {
	counted := &tally{reasons: map[string]int{}}
	for _, file := range recordedFiles(t, "wfcommons/*.json") {
		counted.holds(t, scienceFlow(filepath.Base(file), decoded(t, file)))
	}
	counted.log(t, "WfCommons")
	counted.runSomeForReal(t, 5)
}
