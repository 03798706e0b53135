package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// Message is one message of the conversation with the LLM.
type Message struct {
	Role, Content string // Role is "system" or "user"
}

// Render renders a Request as three messages. Prompt caches match from the front, so the most stable parts come first:
// the rules and the palette, then the context that all instances share, then the Plans, the States, the errors and the
// question. readStoredValue returns the bytes of a value in the store, or nil if they are unavailable; readStoredValue itself may
// be nil.
func Render(idea *ideafile.Idea, bindings ideafile.ToolBindings, request *turn.RequestInput,
	readStoredValue func(jsonval.BlobHandle) []byte) []Message {
	w := &promptWriter{idea: idea, bindings: bindings, RequestInput: request, readStoredValue: readStoredValue}
	finalSections := []func(*promptWriter){(*promptWriter).writeGuidingPlans, (*promptWriter).writeCallHistory,
		(*promptWriter).writeInstanceStates,
		(*promptWriter).writeContextErrors, templateSection("notes"), (*promptWriter).writeDraftOutput, templateSection("reply")}
	// The parameters of each Call are shown resolved, so States would only repeat them. Errors say why an alternative
	// is tried.
	if len(request.Questions) > 0 {
		finalSections = []func(*promptWriter){(*promptWriter).writeContextErrors, templateSection("reply")}
	}
	return []Message{
		{"system", w.render(templateSection("rules"), (*promptWriter).writeToolDescriptions)},
		{"user", w.render((*promptWriter).writeSharedContext)},
		{"user", w.render(finalSections...)},
	}
}

// promptWriter renders the sections of a prompt; it is reset for each message.
type promptWriter struct {
	strings.Builder
	idea     *ideafile.Idea
	bindings ideafile.ToolBindings
	*turn.RequestInput
	readStoredValue func(jsonval.BlobHandle) []byte
	// hasUnexplainedPreviews says that a preview was written since writePreviewExplanation last ran.
	hasUnexplainedPreviews bool
	hasUnexplainedOutlines bool // one of the previews has an outline
}

func (w *promptWriter) render(sections ...func(*promptWriter)) string {
	w.Reset()
	w.hasUnexplainedPreviews, w.hasUnexplainedOutlines = false, false
	for _, writeSection := range sections {
		writeSection(w)
	}
	return escapeLineBreaks(strings.TrimSpace(w.String()))
}

func (w *promptWriter) writeLine(format string, args ...any) {
	fmt.Fprintf(&w.Builder, format+"\n", args...)
}

func (w *promptWriter) writeHeading(title string) { w.writeLine("\n## %s", title) }

// escapeLineBreaks escapes characters that JSON strings may contain and that many readers take for a line end. So no
// data can begin a line.
func escapeLineBreaks(text string) string {
	return lineBreakEscaper.Replace(text)
}

var lineBreakEscaper = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`)

// lineBreakNormalizer replaces everything that some reader takes for a line end by "\n".
var lineBreakNormalizer = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
	"\u2029", "\n")

// writeQuoted writes texts of the process's designer, each line behind a mark. So headings in them are not mistaken for
// the prompt's own.
func (w *promptWriter) writeQuoted(indent string, texts ...string) {
	for _, text := range texts {
		for line := range strings.Lines(strings.TrimSpace(lineBreakNormalizer.Replace(text))) {
			w.writeLine("%s> %s", indent, strings.TrimRight(line, "\n"))
		}
	}
}

// writeLabeledValue writes a value behind a label. It does not go through fmt, which would copy a State of a megabyte
// several times.
func (w *promptWriter) writeLabeledValue(label string, v any) {
	jsonval.EncodeToPooledBuffer(w.abbreviateStoredValues(v), func(data []byte) {
		w.Grow(len(label) + len(data) + 1)
		w.WriteString(label)
		w.Write(data)
		w.WriteByte('\n')
	})
}

// JSON is a value as compact JSON, with large values abbreviated.
func (w *promptWriter) JSON(v any) string { return jsonval.EncodeToString(w.abbreviateStoredValues(v)) }

// instanceLabel is an instance's name at the beginning of a line. It is in quotes if it could be mistaken for something
// else.
func instanceLabel(token string) string {
	first, _ := utf8.DecodeRuneInString(token)
	if unicode.IsLetter(first) || unicode.IsNumber(first) || first == '_' {
		return token
	}
	return jsonval.EncodeToString(token)
}

func hasOnlyUnnamedInstance(idea *ideafile.Idea) bool {
	tokens := idea.InstanceTokens()
	return len(tokens) == 1 && tokens[0] == ""
}

// requestTemplate says what to answer now, at the end of the prompt, where it is read last. It also shows what the LLM
// wrote before: its notes, and the output that the reply may correct. "known" explains why its statements about
// instances that are not shown still hold.
const requestTemplate = `{{define "known"}}no Call of theirs failed{{if .MayNeedApproval}}, or was rejected or changed by a person{{end}}{{if or .Others.AwaitingPeople .Others.Working}}, so far{{end}}{{end}}
{{define "notes"}}{{if .Notes}}
## Your notes
You wrote them beside your answers, as if the Calls of that answer had succeeded.{{if and .OthersAreKnown .LeavesOutInstances}} For the instances that are not shown they still stand: {{template "known" .}}. For those above they may be wrong now.{{else}} Where State tells otherwise, State is right.{{end}}
{{range .Notes}}- Answer {{.Request}}: {{$.JSON .Text}}
{{end}}{{end}}{{end}}
{{define "draft"}}
## Your output so far
You gave it in answer {{.DraftOutput.Request}}. It does not count yet, since more is to be done{{if .LeavesOutInstances}} for the instances above. For the other instances, which are not shown, it still stands: {{template "known" .}}{{end}}. Give it whole again, put right where that is needed.
{{end}}
{{define "reply"}}{{if .Questions}}
## Results wanted
Plan nothing now. Only the results of these Calls are wanted, each as one entry {"_call": id, "_output": result} in "calls".
{{range .Questions}}{{if .ParamsError}}Where a line says that values do not fit, give {"_call": id, "_params": the same parameters, fitted to the tool} instead: bring the values into the right form; change and invent nothing.
{{break}}{{end}}{{end}}{{range .Questions}}- {{.CallID}} {{.Tool}} {{$.JSON .Params}}{{with .Reasoning}} (your reason for it: {{$.JSON .}}){{end}}{{with .ParamsError}} does not fit: {{oneLine .}}{{end}}
{{end}}{{else}}
## What to do now
{{if .IsOutputOnly}}Everything is done. Write the output, in the form given above: {"calls": [], "output": …}.
{{else}}{{$output := and .WantsOutput .ReplyMayHoldOutput}}Answer with {"calls": [...]{{if or .MayBeLast $output}}, "finished": ...{{end}}{{if $output}}, "output": ...{{end}}{{if and $output .HasSeveralInstances}}, "notes": ...{{end}}}: every Call that can be planned now{{if .HasSeveralInstances}} for {{if eq (len .Instances) 1}}{{(index .Instances 0).Token}}{{else}}the {{len .Instances}} instances above{{end}}{{end}}.{{if .HasSeveralInstances}}{{with .OthersText}} The others: {{.}}.{{end}}{{with .ReopenableTokens}} A Call that names a finished one takes it up again: {{join . ", "}}; "*" does not mean them.{{end}}{{end}}
{{if .MayBeLast}}{{template "finished" .}} {{template "askedAgain" .}}
{{end}}{{if and .WantsOutput (not $output)}}The output is not wanted now: you are asked for it when all is done, and shown every State then.
{{end}}{{end}}{{end}}{{end}}`

// writeDraftOutput shows the output that the reply may correct.
func (w *promptWriter) writeDraftOutput() {
	if w.DraftOutput != nil {
		w.writeTemplate("draft")
		w.writeLabeledValue("", w.DraftOutput.Output)
	}
}

// OthersText counts the instances that the Request does not cover.
func (w *promptWriter) OthersText() string {
	var others []string
	for _, o := range []struct {
		count int
		text  string
	}{{w.Others.Finished, "finished"}, {w.Others.AwaitingPeople, "waiting for people"},
		{w.Others.Working, "at work"}, {w.Others.Failed, "failed"}} {
		if o.count > 0 {
			others = append(others, fmt.Sprintf("%d %s", o.count, o.text))
		}
	}
	return strings.Join(others, ", ")
}
