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
func (s *Sender) encodeBody(n approval.Notification, callByDigest map[string]shown.Call) []byte {
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
		for k, v := range jsonval.AsObject(jsonval.ToJSONValue(callByDigest[jsonval.AsText(notice["digest"])])) {
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
func (s *Sender) formatText(n approval.Notification, callByDigest map[string]shown.Call) string {
	processLabel := n.ProcessID
	if n.ProcessPath != "" {
		processLabel = n.ProcessPath + " (" + n.ProcessID + ")"
	}
	lines := []string{fmt.Sprintf("%s: %s", processLabel, awaitingText(n.AwaitingCallCount))}
	lines = append(lines, s.waitingLines("waits", n.NewlyWaiting, callByDigest)...)
	lines = append(lines, omittedLines(n.OmittedWaitingCount, "wait")...)
	lines = append(lines, s.waitingLines("still waits", n.Reminders, callByDigest)...)
	lines = append(lines, omittedLines(n.OmittedReminderCount, "still wait")...)
	lines = append(lines, s.waitingLines("escalated", n.Escalations, callByDigest)...)
	lines = append(lines, omittedLines(n.OmittedEscalationCount, "were escalated")...)
	for _, r := range n.Remarks {
		lines = append(lines, fmt.Sprintf("• %s: %s", remarkText(*r.Remark), s.callSentence(r, callByDigest)))
	}
	lines = append(lines, omittedLines(n.OmittedRemarkCount, "were asked about")...)
	for _, d := range n.NoLongerWaiting {
		lines = append(lines, fmt.Sprintf("• %s: %s", decisionText(d), s.callSentence(d, callByDigest)))
	}
	lines = append(lines, omittedLines(n.OmittedNoLongerWaitingCount, "no longer wait")...)
	if link := s.linkURL(n.ProcessID, ""); link != "" {
		lines = append(lines, link)
	}
	return strings.Join(lines, "\n")
}

// waitingLines describes Calls that wait, a line each.
func (s *Sender) waitingLines(statusPhrase string, notices []approval.Notice,
	callByDigest map[string]shown.Call) (lines []string) {
	for _, w := range notices {
		line := fmt.Sprintf("• %s: %s", statusPhrase, s.callSentence(w, callByDigest))
		if w.ReminderCount > 0 {
			line += ", since " + w.Since.UTC().Format(time.RFC3339)
		}
		if w.Deadline != nil {
			line += ", until " + w.Deadline.UTC().Format(time.RFC3339)
		}
		for _, to := range w.EscalatedTo {
			line += "; may decide too: " + isolateDirection(jsonval.Clip(policy.DeciderRules{to}.String(), 200))
		}
		lines = append(lines, line)
	}
	return lines
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

func omittedLines(omittedCount int, statusPhrase string) []string {
	if omittedCount == 0 {
		return nil
	}
	return []string{fmt.Sprintf("• %d more %s", omittedCount, statusPhrase)}
}

func decisionText(d approval.Notice) string {
	if d.DecisionKind == "" {
		return "no longer waits"
	}
	text := approval.Decision{Kind: d.DecisionKind}.PastTense()
	if d.DecidedBy != "" {
		text += " by " + isolateDirection(jsonval.ClipForError(d.DecidedBy))
	}
	if d.DecidedOnBehalfOf != "" {
		text += " in place of " + isolateDirection(jsonval.ClipForError(d.DecidedOnBehalfOf))
	}
	return text
}

func remarkText(r approval.NoticeRemark) string {
	for _, name := range []*string{&r.Author, &r.RecipientName, &r.RecipientGroup} {
		*name = isolateDirection(jsonval.ClipForError(*name))
	}
	return r.String()
}
