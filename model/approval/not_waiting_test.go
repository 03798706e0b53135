package approval_test

import (
	"testing"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile"
)

func TestWhoDecidesOnWhatDoesNotWaitHearsHowItStands(t *testing.T) {
	t.Parallel()
	approved := []approval.Decision{{Kind: policy.Approve, DecidedBy: "eve", Reason: "it is small"}}
	for _, c := range []struct {
		status    ideafile.CallStatus
		decisions []approval.Decision
		want      string
	}{
		{ideafile.CallDone, approved,
			"1.2@⑬ was decided on already (approved by eve: it is small) and waits for nobody: it is done"},
		{ideafile.CallDone, nil, "1.2@⑬ waits for nobody: it is done"},
		{ideafile.CallWaiting, nil, "1.2@⑬ waits for nobody: it is not ready yet"},
		{ideafile.CallRunning, []approval.Decision{{Kind: policy.Amend, AmendedParams: map[string]any{"n": 1}}},
			"1.2@⑬ was decided on already (amended by a person) and waits for nobody: it is running"},
		{ideafile.CallAwaitingApproval, nil, "1.2@⑬ waits for nobody: its instance has ended"},
	} {
		if got := approval.CallNotWaitingError("1.2@⑬", c.status, c.decisions).Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestWhoNamesACallThatThereIsNotHearsWhichWaitAndWhichWasMeant(t *testing.T) {
	t.Parallel()
	waiting := []approval.PendingCall{{CallID: "1.2@⑬", Tool: "settle"}, {CallID: "1.2@⑮", Tool: "settle"}}
	for _, c := range []struct {
		id    string
		known []string
		list  []approval.PendingCall
		want  string
	}{
		{"1.3@⑬", nil, waiting,
			`there is no Call "1.3@⑬"; did you mean 1.2@⑬? What waits for a person here: 1.2@⑬ settle, 1.2@⑮ settle`},
		{"7.7", []string{"1.7"}, nil, `there is no Call "7.7"; did you mean 1.7? Nothing waits for a person here`},
		{"1.2", nil, waiting[1:],
			`there is no Call "1.2"; did you mean 1.2@⑮? What waits for a person here: 1.2@⑮ settle`},
		{"nonsense", nil, waiting[:1], `there is no Call "nonsense". What waits for a person here: 1.2@⑬ settle`},
	} {
		if got := approval.UnknownCallError(c.id, c.known, c.list).Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
