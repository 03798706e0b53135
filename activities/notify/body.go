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

// body is the body of the message. It has only fields that Slack documents for its webhooks, since Slack promises
// nothing of others.
func (s *Sender) body(n approval.Notices, words map[string]shown.Call) []byte {
	text := s.text(n, words)
	switch s.format {
	case FormatSlack:
		return jsonval.Encode(jsonval.Object{"text": slackEscape.Replace(text)})
	case FormatSlackBlocks:
		return jsonval.Encode(s.slackBlocks(n, text, words))
	case FormatTeams:
		return jsonval.Encode(s.teamsCard(n, text, words))
	}
	data := jsonval.ToJSONValue(n)
	for call := range eachNotice(data) {
		for k, v := range jsonval.AsObject(jsonval.ToJSONValue(words[jsonval.AsText(call["digest"])])) {
			call[k] = v
		}
	}
	return jsonval.Encode(jsonval.Object{
		"type": noticeEventType, "timestamp": s.now().UTC().Format(time.RFC3339), "text": text, "data": data,
	})
}

// eachNotice yields the notices of single Calls in the JSON form of Notices.
func eachNotice(data any) iter.Seq[jsonval.Object] {
	return func(yield func(jsonval.Object) bool) {
		for _, list := range jsonval.Sorted(jsonval.AsObject(data)) {
			for _, one := range jsonval.AsList(list) {
				if call := jsonval.AsObject(one); call != nil && !yield(call) {
					return
				}
			}
		}
	}
}

// slackEscape keeps names from becoming links and mentions.
var slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// text formats the notice as lines for people.
func (s *Sender) text(n approval.Notices, words map[string]shown.Call) string {
	name := n.ProcessID
	if n.ProcessPath != "" {
		name = n.ProcessPath + " (" + n.ProcessID + ")"
	}
	lines := []string{fmt.Sprintf("%s: %s", name, awaitingText(n.AwaitingCount))}
	lines = append(lines, s.waitingLines("waits", n.NewlyWaiting, words)...)
	lines = append(lines, moreLine(n.OmittedWaiting, "wait")...)
	lines = append(lines, s.waitingLines("still waits", n.Reminders, words)...)
	lines = append(lines, moreLine(n.OmittedReminders, "still wait")...)
	lines = append(lines, s.waitingLines("escalated", n.Escalations, words)...)
	lines = append(lines, moreLine(n.OmittedEscalations, "were escalated")...)
	for _, r := range n.Remarks {
		lines = append(lines, fmt.Sprintf("• %s: %s", remarkText(*r.Remark), s.sentence(r, words)))
	}
	lines = append(lines, moreLine(n.OmittedRemarks, "were asked about")...)
	for _, d := range n.NewlyDecided {
		lines = append(lines, fmt.Sprintf("• %s: %s", decisionText(d), s.sentence(d, words)))
	}
	lines = append(lines, moreLine(n.OmittedDecided, "no longer wait")...)
	if link := s.linkTo(n.ProcessID, ""); link != "" {
		lines = append(lines, link)
	}
	return strings.Join(lines, "\n")
}

// waitingLines describes Calls that wait, a line each.
func (s *Sender) waitingLines(what string, list []approval.Notice, words map[string]shown.Call) (lines []string) {
	for _, w := range list {
		line := fmt.Sprintf("• %s: %s", what, s.sentence(w, words))
		if w.Reminders > 0 {
			line += ", since " + w.Since.UTC().Format(time.RFC3339)
		}
		if w.Deadline != nil {
			line += ", until " + w.Deadline.UTC().Format(time.RFC3339)
		}
		for _, to := range w.EscalatedTo {
			line += "; may decide too: " + isolated(jsonval.Clip(policy.Rules{to}.String(), 200))
		}
		lines = append(lines, line)
	}
	return lines
}

func awaitingText(awaiting int) string {
	switch awaiting {
	case 0:
		return "nothing waits for a person"
	case 1:
		return "1 case waits for a person"
	}
	return fmt.Sprintf("%d cases wait for a person", awaiting)
}

func moreLine(n int, what string) []string {
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("• %d more %s", n, what)}
}

func decisionText(d approval.Notice) string {
	switch {
	case d.DecisionKind == "":
		return "no longer waits"
	}
	text := approval.Decision{Kind: d.DecisionKind}.PastTense()
	if d.DecidedBy != "" {
		text += " by " + isolated(jsonval.ClipForError(d.DecidedBy))
	}
	if d.DecidedFor != "" {
		text += " in place of " + isolated(jsonval.ClipForError(d.DecidedFor))
	}
	return text
}

func remarkText(r approval.NoticeRemark) string {
	for _, name := range []*string{&r.By, &r.To, &r.ToGroup} {
		*name = isolated(jsonval.ClipForError(*name))
	}
	return r.String()
}
