package notify

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"processidea/model/approval"
	"processidea/model/approval/policy"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// noticeEventType is the type of the notice, in the terms of Standard Webhooks.
const noticeEventType = "approvals.changed"

// encodeBody is the body of the message. It has only fields that Slack documents for its webhooks, since Slack promises
// nothing of others.
func (s *Sender) encodeBody(n approval.Notification, callByDigest map[string]DescribedCall) []byte {
	text := s.formatText(n, callByDigest)
	switch s.format {
	case FormatSlack:
		return jsonval.Encode(jsonval.Object{"text": slackEscape.Replace(text)})
	case FormatSlackBlocks:
		return jsonval.Encode(s.slackBlocksMessage(n, text, callByDigest))
	case FormatTeams:
		return jsonval.Encode(s.teamsCardMessage(n, text, callByDigest))
	}
	noticesJSON := jsonval.ToJSONValue(n)
	for notice := range eachNotice(noticesJSON) {
		for k, v := range jsonval.AsObject(jsonval.ToJSONValue(callByDigest[jsonval.AsText(notice["digest"])].Call)) {
			notice[k] = v
		}
	}
	return jsonval.Encode(jsonval.Object{
		"type": noticeEventType, "timestamp": s.now().UTC().Format(time.RFC3339), "text": text, "data": noticesJSON,
	})
}

// eachNotice yields the notices of single Calls in the JSON form of Notices.
func eachNotice(noticesJSON any) iter.Seq[jsonval.Object] {
	return func(yield func(jsonval.Object) bool) {
		for _, notices := range jsonval.Sorted(jsonval.AsObject(noticesJSON)) {
			for _, item := range jsonval.AsList(notices) {
				if notice := jsonval.AsObject(item); notice != nil && !yield(notice) {
					return
				}
			}
		}
	}
}

// slackEscape keeps names from becoming links and mentions.
var slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// formatText formats the notice as lines for people.
func (s *Sender) formatText(n approval.Notification, callByDigest map[string]DescribedCall) string {
	processLabel := n.ProcessID
	if n.ProcessPath != "" {
		processLabel = n.ProcessPath + " (" + n.ProcessID + ")"
	}
	lines := []string{fmt.Sprintf("%s: %s", processLabel, awaitingText(n.AwaitingCallCount))}
	for _, g := range noticeGroupsOf(n, callByDigest) {
		for _, w := range g.notices {
			lines = append(lines,
				fmt.Sprintf("• %s: %s%s", g.statusText(w), s.callSentence(w, callByDigest), g.detailText(w)))
		}
		lines = append(lines, g.omittedLines()...)
	}
	if link := s.linkURL(n.ProcessID, ""); link != "" {
		lines = append(lines, link)
	}
	return strings.Join(lines, "\n")
}

// noticeGroup has the notices of one kind.
type noticeGroup struct {
	notices       []approval.Notice
	isDecided     bool // its Calls no longer wait
	statusText    func(approval.Notice) string
	omittedCount  int
	omittedPhrase string
}

func noticeGroupsOf(n approval.Notification, callByDigest map[string]DescribedCall) []noticeGroup {
	phrase := func(text string) func(approval.Notice) string {
		return func(approval.Notice) string { return text }
	}
	remark := func(w approval.Notice) string { return remarkText(*w.Remark, callByDigest[w.Digest].Remarks) }
	return []noticeGroup{
		{n.NewlyWaiting, false, phrase("waits"), n.OmittedWaitingCount, "wait"},
		{n.Reminders, false, phrase("still waits"), n.OmittedReminderCount, "still wait"},
		{n.Escalations, false, phrase("escalated"), n.OmittedEscalationCount, "were escalated"},
		{n.Remarks, false, remark, n.OmittedRemarkCount, "were asked about"},
		{n.NoLongerWaiting, true, decisionText, n.OmittedNoLongerWaitingCount, "no longer wait"},
	}
}

// detailText says how long a Call waits and who else may decide; empty once it is decided.
func (g noticeGroup) detailText(w approval.Notice) (text string) {
	if g.isDecided {
		return ""
	}
	if w.ReminderCount > 0 {
		text += ", since " + momentText(w.Since)
	}
	if w.Deadline != nil {
		text += ", until " + momentText(*w.Deadline)
	}
	for _, to := range w.EscalatedTo {
		text += "; may decide too: " + isolateDirection(jsonval.Clip(policy.DeciderRules{to}.String(), 200))
	}
	return text
}

func (g noticeGroup) omittedLines() []string {
	if g.omittedCount == 0 {
		return nil
	}
	return []string{fmt.Sprintf("• %d more %s", g.omittedCount, g.omittedPhrase)}
}

// momentText returns a time as the fields of Calls show it.
func momentText(t time.Time) string {
	t = t.UTC().Truncate(time.Second)
	return shown.Format{Display: shown.DateTime}.Text(t.Format(time.RFC3339), shown.English)
}

func awaitingText(count int) string {
	switch count {
	case 0:
		return "nothing waits for a person"
	case 1:
		return "1 case waits for a person"
	}
	return fmt.Sprintf("%d cases wait for a person", count)
}

func decisionText(d approval.Notice) string {
	if d.DecisionKind == "" {
		return "no longer waits"
	}
	text := approval.Decision{Kind: d.DecisionKind}.PastTense()
	switch d.DecidedBy {
	case "":
	case approval.DecidedByTimeout:
		text += ", since nobody decided in time"
	default:
		text += " by " + isolateDirection(jsonval.ClipForError(d.DecidedBy))
	}
	if d.DecidedOnBehalfOf != "" {
		text += " in place of " + isolateDirection(jsonval.ClipForError(d.DecidedOnBehalfOf))
	}
	return text
}

// remarkText says who asked whom, or handed a Call over to whom, and, if it is known, in which words: one person's
// words never stand under another's name.
func remarkText(r approval.NoticeRemark, remarks []approval.Decision) string {
	remark := ""
	for _, d := range remarks {
		if d.Kind == r.Kind && d.DecidedBy == r.Author && d.RecipientName == r.RecipientName &&
			d.RecipientGroup == r.RecipientGroup {
			remark = d.Reason
		}
	}
	for _, name := range []*string{&r.Author, &r.RecipientName, &r.RecipientGroup} {
		*name = isolateDirection(jsonval.ClipForError(*name))
	}
	if remark = strings.Join(strings.Fields(remark), " "); remark == "" {
		return r.String()
	}
	return r.String() + " “" + isolateDirection(jsonval.Clip(remark, maxFieldChars)) + "”"
}
