package main

import (
	"strings"
	"testing"
	"time"

	"processidea/client"
	"processidea/client/schedules"
	"processidea/model/loop"
	"processidea/starter/internal/exit"
)

func (d *desk) schedules() (list []schedules.Schedule) {
	d.Helper()
	d.do("schedule", "list", "--json").is(exit.Done).json(&list)
	return list
}

// A schedule starts processes that are like any other; it is paused, resumed and ended.
func TestAScheduleStartsProcessesUntilItIsPausedOrEnded(t *testing.T) {
	d := newDesk(t, map[string]string{"idea.json": shoutFile, "replies.jsonl": shoutReplies})
	d.dev()
	d.do("schedule", "new", "often", ".", "--every", "1s", "--paused", "--note", "a try", "--replies",
		"replies.jsonl").is(exit.Done)
	d.do("schedule", "new", "nightly", ".", "--cron", "0 2 * * 1-5", "--timezone", "Europe/Berlin", "--replies",
		"replies.jsonl").is(exit.Done)
	d.do("schedule", "new", "nightly", ".", "--every", "1h", "--replies",
		"replies.jsonl").is(exit.Usage).complains("make schedule nightly: a schedule with this id exists")
	d.eventually("both are listed", func() bool { return len(d.schedules()) == 2 })
	list := d.schedules()
	nightly, often := list[0], list[1]
	if nightly.Timing != "0 2 * * 1-5 Europe/Berlin" || nightly.Paused || nightly.ProcessPath != "shout" ||
		len(nightly.NextStarts) == 0 || nightly.NextStarts[0].In(berlin(t)).Hour() != 2 {
		t.Errorf("%+v", nightly)
	}
	if often.Timing != "every 1s" || !often.Paused || often.Note != "a try" || len(often.LatestStarts) != 0 {
		t.Errorf("%+v", often)
	}

	d.do("schedule", "now", "nightly").is(exit.Done)
	d.eventually("one was started at once",
		func() bool { list := d.schedules(); return len(list[0].LatestStarts) == 1 })
	id := d.schedules()[0].LatestStarts[0].ProcessID
	if r := d.do("watch", id, "--json").is(exit.Done).result(); !strings.HasPrefix(id, "nightly-2") ||
		r.Status != loop.StatusCompleted || r.Calls.Done != 1 {
		t.Errorf("%s: %+v", id, r)
	}

	d.do("schedule", "resume", "often").is(exit.Done)
	d.eventually("two were started by the clock", func() bool { return len(d.schedules()[1].LatestStarts) >= 2 })
	d.do("schedule", "pause", "often", "--note", "enough").is(exit.Done)
	d.eventually("it is paused", func() bool { s := d.schedules()[1]; return s.Paused && s.Note == "enough" })
	if e := d.do("schedule", "list"); !strings.Contains(e.out, "paused") || !strings.Contains(e.out, "every 1s") {
		t.Errorf("it lists\n%s", e.out)
	}

	d.do("schedule", "end", "often").is(exit.Done)
	d.eventually("one is left", func() bool { return len(d.schedules()) == 1 })
	d.do("schedule", "end", "often").is(exit.Usage).complains("end schedule often: no schedule has this id")
	d.do("schedule", "pause", "never").is(exit.Usage).complains("pause schedule never: no schedule has this id")
	var kept []client.ProcessSummary
	d.do("list", "--json").is(exit.Done).json(&kept)
	if len(kept) < 3 {
		t.Errorf("of the processes that it started there are left %+v", kept)
	}
}

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("the time zones are not here: ", err)
	}
	return zone
}

func TestAScheduleThatCannotBeMeantIsRefused(t *testing.T) {
	d := newDesk(t, map[string]string{"idea.json": shoutFile, "replies.jsonl": shoutReplies,
		"broken.json": `{"tools": {}}`})
	d.dev("--worker=false")
	for line, want := range map[string]string{
		"new x .":                                     "make schedule x: want either an interval or cron expressions",
		"new x . --every 1h --cron @daily":            "want either an interval or cron expressions",
		"new x . --every 1ms":                         `invalid argument "1ms" for "--every" flag: want 1s at least`,
		"new x . --every 1500ms":                      "want an interval of a second or more, in whole seconds, up to 10 years, not 1.5s",
		"new x . --every 100y":                        "want a duration from 1ms to 10 years",
		"new x . --every 1h --catch-up 1s":            "want 10s at least",
		"new x . --cron 0#0#30#2#*":                   "make schedule x: 0 0 30 2 * never comes",
		"new x . --cron nonsense":                     "make schedule x: ",
		"new x . --cron @daily --timezone Nowhere/At": "make schedule x: ",
		"new x . --every 1h --overlap perhaps":        `there is no overlap "perhaps"; there are allow-all, buffer-all, buffer-one, cancel-other, skip, terminate-other`,
		"new a/b . --every 1h":                        "make schedule a/b: ",
		"new x broken.json --every 1h":                `unknown key "tools"`,
		"new x":                                       "schedule new: FILE or FOLDER is missing",
		"pause":                                       "schedule pause: NAME is missing",
		"sometimes":                                   "unknown command",
	} {
		args := append([]string{"schedule"}, strings.Fields(line)...)
		for n := range args {
			args[n] = strings.ReplaceAll(args[n], "#", " ")
		}
		if strings.HasPrefix(line, "new x .") || strings.HasPrefix(line, "new a/b") {
			args = append(args, "--replies", "replies.jsonl")
		}
		d.do(args...).is(exit.Usage).quiet().complains(want)
	}
}

// shoutFile is a process with one Call, and shoutReplies what its LLM says.
const (
	shoutFile = `{"meta": {"path": "shout"}, "schema": {"tools": {"feel": {"type": "object", "properties": {"text": {"type": "string"}}, "_activity": "analyzeSentiment"}}},
		"context": [{"type": "text", "text": "Go."}]}`
	shoutReplies = `{"solution": {"calls": [{"_tool": "feel", "text": "good", "_outputPath": "mood"}]}}` +
		"\n" + `{"solution": {"calls": []}}`
)
