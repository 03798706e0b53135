package dataflow_test

import (
	"strings"
	"testing"
	"time"

	"processidea/model/dataflow"
	"processidea/model/modeltest"
)

// at is the instance once so much time has passed, after it has continued as new.
func at(t *testing.T, i *dataflow.Instance, passed time.Duration) *dataflow.Instance {
	t.Helper()
	i = carried(t, i)
	i.SetTime(modeltest.StartTime.Add(passed))
	i.ApplyDeadlines()
	return i
}

const withEscalation = `{"groups": ["finance"], "count": 2, "notStarter": true}, "remind": ["4h", "24h"], "escalate": {"after": "48h", "by": {"groups": ["heads"]}}`

func TestTimePassesWhileNobodyDecides(t *testing.T) {
	t.Parallel()
	i := vault(t, withEscalation, "")
	digest := i.PendingApprovals()[0].Digest
	if next, ok := i.NextReviewDueTime(); !ok || !next.Equal(modeltest.StartTime.Add(4*time.Hour)) {
		t.Error(next, ok)
	}
	i = at(t, i, 4*time.Hour)
	if p := i.PendingApprovals()[0]; p.ReminderSchedule.NotificationProgressKey() != "r1e0" || p.Digest != digest {
		t.Errorf("%+v", p)
	}
	if err := approve(i, "1.1", "hal", "heads"); err == nil ||
		!strings.Contains(err.Error(), "hal may not decide on it, only people of finance may") {
		t.Errorf("before the escalation: %v", err)
	}
	i = at(t, i, 48*time.Hour)
	p := i.PendingApprovals()[0]
	if p.ReminderSchedule.NotificationProgressKey() != "r2e1" ||
		p.DecidersInWords() != "2 of: people of finance, heads; not who started the process" {
		t.Errorf("%+v, %s", p, p.DecidersInWords())
	}
	if _, ok := i.NextReviewDueTime(); ok {
		t.Error("more is to happen")
	}
	// How many must decide, and who may not, has stayed.
	if err := approve(i, "1.1", "sam", "heads"); err == nil ||
		!strings.Contains(err.Error(), "sam started the process") {
		t.Errorf("who started it: %v", err)
	}
	if err := approve(i, "1.1", "hal", "heads"); err != nil || len(i.Advance()) != 0 {
		t.Errorf("one of two: %v", err)
	}
	if err := approve(i, "1.1", "ann", "finance"); err != nil || len(i.Advance()) != 1 {
		t.Errorf("two: %v", err)
	}
	made := i.CallRecords()[0].Decisions
	if told := made[1].SentNotifications; told.String() != "reminded twice, escalated to people of heads" {
		t.Errorf("on record: %+v", made)
	}
}

// Whoever may decide from now on may, even if nothing woke the instance before.
func TestADecisionAtTheMomentOfTheEscalationCounts(t *testing.T) {
	t.Parallel()
	i := vault(t, strings.Replace(withEscalation, `"count": 2, `, "", 1), "")
	i.SetTime(modeltest.StartTime.Add(48 * time.Hour))
	if err := approve(i, "1.1", "hal", "heads"); err != nil || len(i.Advance()) != 1 {
		t.Error(err)
	}
}

// What config.approval adds reminds too; its escalation adds people to its own limit, and takes away none that a Tool
// has.
func TestAConfigsEscalationLoosensNoToolsLimit(t *testing.T) {
	t.Parallel()
	const rest = `"remind": ["1h"], "escalate": {"after": "2h", "by": {"groups": ["heads"]}}}`
	i := at(t, vault(t, `{"groups": ["finance"]}`, `{`+rest), 2*time.Hour)
	if p := i.PendingApprovals()[0]; p.ReminderSchedule.NotificationProgressKey() != "r1e1" {
		t.Errorf("%+v", p.ReminderSchedule)
	}
	if p := i.PendingApprovals()[1]; p.Tool != "prepare" || p.ReminderSchedule.NotificationProgressKey() != "r1e1" ||
		len(p.Deciders) != 0 {
		t.Errorf("%+v", p)
	}
	if err := approve(i, "1.1", "hal", "heads"); err == nil ||
		!strings.Contains(err.Error(), "only people of finance may") {
		t.Error(err)
	}
	i = vault(t, `{"groups": ["finance"]}`, `{"by": {"groups": ["auditors"]}, `+rest)
	if err := approve(i, "1.1", "hal", "heads", "finance"); err == nil ||
		!strings.Contains(err.Error(), "only people of auditors may") {
		t.Errorf("before: %v", err)
	}
	i = at(t, i, 2*time.Hour)
	if err := approve(i, "1.1", "hal", "heads"); err == nil ||
		!strings.Contains(err.Error(), "only people of finance may") {
		t.Errorf("after, of no finance: %v", err)
	}
	if err := approve(i, "1.1", "hal", "heads", "finance"); err != nil {
		t.Errorf("after: %v", err)
	}
	// For Tools that are not named nothing happens.
	i = vault(t, `{"groups": ["finance"]}`, `{"tools": ["prepare"], `+rest)
	if p := i.PendingApprovals(); p[0].ReminderSchedule != nil || p[1].ReminderSchedule == nil {
		t.Errorf("%+v", p)
	}
}
