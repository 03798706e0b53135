package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/client/backtest"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
	"processidea/starter/internal/exit"
)

// The commands of examples/ripening, as its page has them, take a process from free to complete; and what the page says
// of changes is so.
func TestAProcessRipensFromFreeToCompleteInFiveCommands(t *testing.T) {
	examples, err := filepath.Abs("../examples")
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, nil)
	if err := os.Symlink(examples, filepath.Join(d.dir, "examples")); err != nil {
		t.Fatal(err)
	}
	const program = "go run ./starter "
	lines := commandsOf(t, "../examples/ripening/README.md", program)
	if len(lines) != 5 {
		t.Errorf("there are %d commands", len(lines))
	}
	var runs []loop.ProcessResult
	for _, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		args := strings.Fields(strings.TrimPrefix(line, program))
		if args[0] == "run" {
			runs = append(runs, d.do(append(args, "--json", noUI)...).is(exit.Done).result())
			continue
		}
		d.do(args...).is(exit.Done)
	}
	free, hard := runs[0], runs[1]
	if free.RequestCount != 1 || hard.RequestCount != 0 || free.Calls.Done != 10 || hard.Calls != free.Calls ||
		!jsonval.Equal(jsonval.ToJSONValue(hard.Instances), jsonval.ToJSONValue(free.Instances)) ||
		!jsonval.Equal(hard.Output, free.Output) {
		t.Errorf("%+v\nafter %+v", hard, free)
	}
	text, err := os.ReadFile(filepath.Join(d.dir, "complete.json"))
	if err != nil {
		t.Fatal(err)
	}
	if complete, problems := ideafile.ParseIdea(text); len(problems.Errors()) > 0 ||
		complete.Context[len(complete.Context)-1].PlanStage != ideafile.PlanStageComplete {
		t.Errorf("complete.json is not complete; %v", problems)
	}
	r := d.do("run", "complete.json", "--instances", "examples/ripening/instances.jsonl", "--id", "last", "--json",
		noUI).is(exit.Done).result()
	if r.RequestCount != 0 || !jsonval.Equal(r.Output, free.Output) {
		t.Errorf("complete.json comes to %+v", r)
	}
	for _, c := range []struct {
		from, to string
		args     []string
		differ   int
		first    string
	}{
		{"", "", []string{"free", "hard", "last"}, 0, ""},
		{`"maximum": 30`, `"maximum": 14`, []string{"free"}, 5, "assess would have rules "},
		{"we offer a", "you get a", []string{"hard"}, 5,
			`write would have template "Dear {customer}, for your {goods} you get a {outcome}. {why}"`},
	} {
		changed := strings.Replace(string(text), c.from, c.to, 1)
		if err := os.WriteFile(filepath.Join(d.dir, "changed.json"), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		var report backtest.Report
		d.do(append([]string{"backtest", "changed.json", "--json"}, c.args...)...).is(exit.Done).json(&report)
		if report.DifferentCount != c.differ || report.SameCount != 5*len(c.args)-c.differ {
			t.Errorf("%q: %d the same, %d different, %d not known", c.to, report.SameCount, report.DifferentCount,
				report.UnknownCount)
		}
		for _, i := range report.Instances {
			if c.differ > 0 && (len(i.Differences) != 1 || !strings.HasPrefix(i.Differences[0].Text, c.first)) {
				t.Errorf("%s: %v", i.Instance, i.Differences)
			}
		}
	}
}

func TestAPlanThatNeedsAnLLMCannotBeComplete(t *testing.T) {
	d := newDesk(t, judge())
	d.do("run", "idea.json", "--id", "j", "--replies", "replies.jsonl", noUI).is(exit.Done)
	d.do("harden", "j", "--complete", "-o",
		"made.json").is(exit.Usage).complains(
		"the Plan cannot be complete, since it needs an LLM or a person: not generalised: judge")
	if _, err := os.Stat(filepath.Join(d.dir, "made.json")); err == nil {
		t.Error("a file is written")
	}
}
