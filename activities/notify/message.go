package notify

import (
	"cmp"
	"net/url"
	"strings"

	"processidea/model/approval"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// This file formats a notice for Slack (Block Kit) and Teams (Adaptive Cards): a section for each Call, with what
// happened to it and a button that opens it. People decide at the desk.

// Bounds of a message: Slack takes 50 blocks, and ten fields of 2,000 characters in each.
const (
	maxSections   = 40
	maxFields     = 10
	maxFieldChars = 500
)

func (s *Sender) slackBlocksMessage(n approval.Notification, text string,
	callByDigest map[string]DescribedCall) jsonval.Object {
	newMarkdown := func(text string) jsonval.Object { return jsonval.Object{"type": "mrkdwn", "text": text} }
	heading, _, _ := strings.Cut(text, "\n")
	blocks := []any{jsonval.Object{"type": "section", "text": newMarkdown("*" + slackEscape.Replace(heading) + "*")}}
	sections, restLines := s.sectionsOf(n, callByDigest)
	for _, w := range sections {
		section := jsonval.Object{"type": "section",
			"text": newMarkdown(slackEscape.Replace(w.sentence + "\n" + w.statusText))}
		var fields []any
		for _, f := range w.fields {
			fields = append(fields,
				newMarkdown("*"+slackEscape.Replace(f.Title)+"*\n"+slackEscape.Replace(f.DisplayText)))
		}
		if fields != nil {
			section["fields"] = fields
		}
		if link := s.linkURL(n.ProcessID, w.CallID); link != "" {
			section["accessory"] = jsonval.Object{"type": "button", "url": link,
				"text": jsonval.Object{"type": "plain_text", "text": "Open"}}
		}
		blocks = append(blocks, section)
	}
	if len(restLines) > 0 {
		blocks = append(blocks,
			jsonval.Object{"type": "section", "text": newMarkdown(strings.Join(restLines, "\n"))})
	}
	return jsonval.Object{"text": slackEscape.Replace(text), "blocks": blocks}
}

func (s *Sender) teamsCardMessage(n approval.Notification, text string,
	callByDigest map[string]DescribedCall) jsonval.Object {
	// In blocks of other types names could become links, since their texts are Markdown.
	newTextRun := func(text, weight string) any {
		return jsonval.Object{"type": "TextRun", "text": text, "weight": weight}
	}
	newTextBlock := func(runs ...any) jsonval.Object { return jsonval.Object{"type": "RichTextBlock", "inlines": runs} }
	heading, _, _ := strings.Cut(text, "\n")
	body := []any{newTextBlock(newTextRun(heading, "Bolder"))}
	sections, restLines := s.sectionsOf(n, callByDigest)
	for _, w := range sections {
		body = append(body, newTextBlock(newTextRun(w.sentence, "Default")),
			newTextBlock(newTextRun(w.statusText, "Lighter")))
		for _, f := range w.fields {
			body = append(body, newTextBlock(newTextRun(f.Title+": ", "Bolder"), newTextRun(f.DisplayText, "Default")))
		}
		if link := s.linkURL(n.ProcessID, w.CallID); link != "" {
			body = append(body, jsonval.Object{"type": "ActionSet",
				"actions": []any{jsonval.Object{"type": "Action.OpenUrl", "title": "Open", "url": link}}})
		}
	}
	for _, line := range restLines {
		body = append(body, newTextBlock(newTextRun(line, "Default")))
	}
	return jsonval.Object{"type": "message", "attachments": []any{jsonval.Object{
		"contentType": "application/vnd.microsoft.card.adaptive",
		"content": jsonval.Object{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
			"type": "AdaptiveCard", "version": "1.4", "body": body}}}}
}

// messageSection is what a message says of one Call.
type messageSection struct {
	approval.Notice
	sentence, statusText string
	fields               []shown.Field
}

// sectionsOf lists the Calls of a notice, each once, as many as fit into a message, and lines that count the others.
func (s *Sender) sectionsOf(n approval.Notification, callByDigest map[string]DescribedCall) (
	sections []messageSection, restLines []string) {
	isSeen := map[[2]string]bool{}
	for _, g := range noticeGroupsOf(n, callByDigest) {
		for _, w := range g.notices {
			id := [2]string{w.CallID, w.Digest}
			if isSeen[id] {
				continue
			}
			isSeen[id] = true
			if len(sections) == maxSections {
				g.omittedCount++
				continue
			}
			section := messageSection{Notice: w, sentence: s.callSentence(w, callByDigest),
				statusText: g.statusText(w) + g.detailText(w)}
			if !g.isDecided {
				section.fields = shortenedFields(callByDigest[w.Digest].Call)
			}
			sections = append(sections, section)
		}
		restLines = append(restLines, g.omittedLines()...)
	}
	return sections, restLines
}

func (s *Sender) callSentence(w approval.Notice, callByDigest map[string]DescribedCall) string {
	call := callByDigest[w.Digest]
	return cmp.Or(isolatedSentence(call.Call), w.CallID+" "+w.Tool) +
		strings.TrimSuffix(" · "+isolateDirection(jsonval.Clip(call.InstanceName, maxFieldChars)), " · ")
}

// shortenedFields are the parameters of a Call that fit into a message.
func shortenedFields(c shown.Call) (list []shown.Field) {
	for _, f := range c.Fields[:min(len(c.Fields), maxFields)] {
		f.Title = isolateDirection(jsonval.Clip(f.Title, maxFieldChars))
		f.DisplayText = isolateDirection(jsonval.Clip(f.DisplayText, maxFieldChars))
		list = append(list, f)
	}
	return list
}

// linkURL is the address at which people see a Call or, without a Call, a process. It is empty if the settings have no
// address.
func (s *Sender) linkURL(processID, callID string) string {
	if callID == "" && strings.Contains(s.linkTemplate, "{call}") {
		return ""
	}
	return linkReplacer(processID, callID).Replace(s.linkTemplate)
}

func linkReplacer(processID, callID string) *strings.Replacer {
	return strings.NewReplacer("{process}", url.PathEscape(processID), "{call}", url.PathEscape(callID))
}
