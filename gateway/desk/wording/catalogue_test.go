package wording_test

import (
	"testing"
	"time"

	"processidea/client"
	"processidea/client/readable"
	"processidea/gateway/desk/wording"
	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/loop"
)

// The desk says some of what the engine says in words of its own.
func TestTextsOfTheEngineAreInTheWordsOfTheDesk(t *testing.T) {
	t.Parallel()
	c, err := wording.CatalogueFor(shown.English)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct{ kind, text, want string }{
		{"", string(ideafile.CallAwaitingApproval), "waiting for a person"},
		{"", approval.PlanAwaitingDecision{RequestNumber: 12}.Name(), "Plan 12"},
		{"", approval.PlanAwaitingDecision{}.Name(), "the Plan that begins the process"},
		{"standing", loop.InstanceResult{Status: ideafile.InstanceSettled, FailedCallCount: 2}.Standing(),
			"finished, 2 steps failed"},
		{"standing", client.ProcessSummary{Status: "completed", FailedCallCount: 1, UndoneCallCount: 2,
			UndoingProcessIDs: []string{"p"}}.
			StatusText(), "completed, 1 step failed, 2 steps taken back, taken back by p"},
		{"standing", client.ProcessSummary{Status: "failed", UndoesProcessID: "p"}.StatusText(),
			"failed, takes back p"},
		{"who", "ann, in advance", "ann, in advance"},
		{"left", "nothing takes strike back", "nothing takes it back"},
		{"left", "it ran p/1, where 0.1 strike cannot be taken back: nothing takes strike back",
			"it ran p/1, where 0.1 strike cannot be taken back: nothing takes it back"},
		{"column", "Fitted by the LLM from", "Fitted from"},
		{"", "It was refused: " + approval.CallNotWaitingError("1.2@①", ideafile.CallAwaitingApproval, nil).Error(),
			"It was refused: it waits for nobody: its case has ended"},
		{"", approval.CallNotWaitingError("1.2", ideafile.CallDone, []approval.Decision{{Kind: policy.Approve,
			DecidedBy: "bob"}}).Error(), "it was decided on already (approved by bob), and waits for nobody: it is done"},
	} {
		if got := c.TranslateAs(one.kind, one.text); got != one.want {
			t.Errorf("%s %q is %q, want %q", one.kind, one.text, got, one.want)
		}
	}
}

func TestSentencesOfTheEngineAreGermanAndDataStay(t *testing.T) {
	t.Parallel()
	c, err := wording.CatalogueFor(shown.German)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) string { return readable.AgoText(now, now.Add(-d)) }
	until := func(d time.Duration) string { return readable.UntilText(now, now.Add(d)) }
	rules := policy.DeciderRules{{Groups: []string{"finance"}, RequiredApprovalCount: 2, ExcludesStarter: true,
		RequiresSignature: true}}
	handOver := approval.Decision{Kind: approval.HandOver, DecidedBy: "ann", RecipientName: "bob", Reason: "1 case"}
	deputy := approval.Decision{Kind: approval.SteerDeputy, DecidedBy: "ann", RecipientName: "bob", Reason: "on leave",
		Order: &approval.StandingOrder{From: now, Until: now.Add(time.Hour)}}
	inPlace := approval.Vote{Kind: policy.Approve, DecidedBy: "bob", Groups: []string{"finance"},
		OnBehalfOf: &policy.Person{Name: "ann"}}
	pending := approval.PendingCall{Deciders: rules, Note: "approve of it and 3 days ago",
		VotesSoFar: []approval.Vote{{Kind: policy.Approve, DecidedBy: "cem", Groups: []string{"finance"}}},
		Remarks:    []approval.Decision{handOver, deputy}}
	for _, one := range []struct{ kind, english, want string }{
		{"time", ago(0), "gerade eben"},
		{"time", ago(time.Hour), "vor 1 Stunde"},
		{"time", ago(100 * time.Minute), "vor 1 Stunde 40 Minuten"},
		{"time", ago(5 * time.Hour), "vor 5 Stunden"},
		{"time", until(100 * time.Minute), "in 1 Stunde 40 Minuten"},
		{"time", until(5*time.Hour + time.Minute), "in 5 Stunden 1 Minute"},
		{"time", ago(71 * time.Hour), "vor 2 Tagen 23 Stunden"},
		{"time", ago(480 * time.Hour), "vor 20 Tagen"},
		{"time", ago(48_000 * time.Hour), "vor 2.000 Tagen"},
		{"time", until(49 * time.Hour), "in 2 Tagen 1 Stunde"},
		{"time", readable.ElapsedText(90 * time.Second), "1 Minute"},
		{"time", readable.ElapsedText(1500 * time.Millisecond), "1,5 Sekunden"},
		{"time", readable.ElapsedText(72 * time.Hour), "3 Tage"},
		{"count", readable.Plural(1234, "case"), "1.234 Fälle"},
		{"who", rules.String(), "2 von: Personen aus finance, mit Unterschrift; nicht wer den Prozess gestartet hat"},
		{"who", pending.DecidersInWords(), "bob, von: 2 von: Personen aus finance, " +
			"mit Unterschrift; nicht wer den Prozess gestartet hat (bisher cem (finance))"},
		{"told", pending.Explanation()[0], "approve of it and 3 days ago"},
		{"told", pending.Explanation()[1], "ann hat es an bob übergeben: 1 case"},
		{"told", pending.Explanation()[2],
			"bob darf von 2026-11-28T09:00:00Z bis 2026-11-28T10:00:00Z in Vertretung von ann entscheiden: on leave"},
		{"who", inPlace.InWords(), "bob (finance) in Vertretung von ann"},
		{"", rules.DenialReason(policy.Person{Name: "ann", HasVerifiedProof: true}, nil),
			"ann darf darüber nicht entscheiden, nur Personen aus finance; die Entscheidung nennt keine Gruppe"},
		{"", approval.CallNotWaitingError("1.2@①", ideafile.CallDone,
			[]approval.Decision{{Kind: policy.Approve, DecidedBy: "bob",
				OnBehalfOf: &policy.Person{Name: "ann"}}}).Error(),
			"über 1.2@① wurde schon entschieden (genehmigt von bob in " +
				"Vertretung von ann), und niemand wird mehr gefragt: es ist erledigt"},
		{"", approval.CallNotWaitingError("1.2", ideafile.CallWaiting, nil).Error(),
			"zu 1.2 wird niemand gefragt: es ist noch nicht so weit"},
		{"", approval.UnknownCallError("1.1", []string{"1.2"}, nil).Error(),
			"es gibt keinen Schritt \"1.1\"; meinten Sie 1.2? Hier wartet nichts auf einen Menschen"},
		{"", pending.CheckHandOverRecipient(approval.Decision{DecidedBy: "cem"}).Error(),
			"ann hat es an bob übergeben: 1 case; wer entscheiden darf, kann es weitergeben"},
		{"", "It was refused: " + rules.DenialReason(policy.Person{Name: "ann", HasVerifiedProof: true,
			Groups: []string{"hr"}}, nil),
			"Es wurde abgewiesen: ann darf darüber nicht entscheiden, nur Personen aus finance"},
		{"", "It was refused: replace is not allowed here; allowed: approve, reject, hand-over",
			"Es wurde abgewiesen: ersetzen ist hier nicht erlaubt, nur genehmigen, ablehnen, übergeben"},
		{"standing", client.ProcessSummary{Status: "completed", FailedCallCount: 2, UndoneCallCount: 1,
			UndoingProcessIDs: []string{"p", "q"}}.
			StatusText(), "abgeschlossen, 2 Schritte gescheitert, 1 Schritt zurückgenommen, zurückgenommen von p, q"},
		{"standing", client.ProcessSummary{Status: "failed", UndoesProcessID: "p"}.StatusText(),
			"gescheitert, nimmt p zurück"},
		{"standing", client.ProcessSummary{Status: "completed", FailedCallCount: 2, UndoneCallCount: 3}.StatusText(),
			"abgeschlossen, 2 Schritte gescheitert, 3 Schritte zurückgenommen"},
		{"", "Refund 2,299.00 EUR to Inbox", "Refund 2,299.00 EUR to Inbox"},
		{"left", "“Pay 1 EUR” reads from it and is not to be taken back",
			"“Pay 1 EUR” liest davon und soll nicht zurückgenommen werden"},
	} {
		if got := c.TranslateAs(one.kind, one.english); got != one.want {
			t.Errorf("%s %q is %q, want %q", one.kind, one.english, got, one.want)
		}
	}
}
