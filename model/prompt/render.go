package prompt

import (
	"fmt"
	"slices"
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
// question. stored returns the bytes of a value in the store, nil if unavailable; it may be nil.
func Render(idea *ideafile.Idea, bindings ideafile.ToolBindings, request *turn.RequestInput,
	stored func(jsonval.BlobHandle) []byte) []Message {
	w := &promptWriter{idea: idea, bindings: bindings, RequestInput: request, stored: stored}
	about := []func(*promptWriter){(*promptWriter).writeGuidingPlans, (*promptWriter).writeCallHistory,
		(*promptWriter).writeInstanceStates,
		(*promptWriter).writeContextErrors, (*promptWriter).writeNotes, (*promptWriter).writeDraftOutput,
		(*promptWriter).writeRequestedReply}
	// the parameters of each Call are shown resolved, so that States would only repeat them. Errors say why an
	// alternative is tried
	if len(request.Questions) > 0 {
		about = []func(*promptWriter){(*promptWriter).writeContextErrors, (*promptWriter).writeRequestedReply}
	}
	return []Message{
		{"system", w.render((*promptWriter).writeRules, (*promptWriter).writePalette)},
		{"user", w.render((*promptWriter).writeSharedContext)},
		{"user", w.render(about...)},
	}
}

// promptWriter renders the sections of a prompt; it is reset for each message.
type promptWriter struct {
	strings.Builder
	idea     *ideafile.Idea
	bindings ideafile.ToolBindings
	*turn.RequestInput
	stored func(jsonval.BlobHandle) []byte
	// showsPreviews: since writePreviewsRule last ran, a value was written of which only the beginning is shown.
	showsPreviews bool
	showsOutlines bool // one of them with an outline
}

func (w *promptWriter) render(parts ...func(*promptWriter)) string {
	w.Reset()
	w.showsPreviews, w.showsOutlines = false, false
	for _, part := range parts {
		part(w)
	}
	return escapeLineBreaks(strings.TrimSpace(w.String()))
}

func (w *promptWriter) writeLine(format string, args ...any) {
	fmt.Fprintf(&w.Builder, format+"\n", args...)
}

func (w *promptWriter) writeHeading(title string) { w.writeLine("\n## %s", title) }

// escapeLineBreaks escapes characters that many readers take for a line end and that JSON strings may contain: no data
// can begin a line.
func escapeLineBreaks(text string) string {
	return lineBreakEscapes.Replace(text)
}

var lineBreakEscapes = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`)

// lineBreaks makes of everything that ends a line what does so everywhere.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
	"\u2029", "\n")

// writeQuoted writes texts of the process's designer, each line behind a mark: headings in them are not taken for the
// prompt's.
func (w *promptWriter) writeQuoted(indent string, texts ...string) {
	for _, text := range texts {
		for line := range strings.Lines(strings.TrimSpace(lineBreaks.Replace(text))) {
			w.writeLine("%s> %s", indent, strings.TrimRight(line, "\n"))
		}
	}
}

// writeLabeledValue writes a value behind a label. It does not go through fmt, which would copy a State of a megabyte
// several times.
func (w *promptWriter) writeLabeledValue(label string, v any) {
	jsonval.EncodeToPooledBuffer(w.abbreviateLargeValues(v), func(data []byte) {
		w.Grow(len(label) + len(data) + 1)
		w.WriteString(label)
		w.Write(data)
		w.WriteByte('\n')
	})
}

// encode encodes a value as compact JSON, large values abbreviated.
func (w *promptWriter) encode(v any) []byte { return jsonval.Encode(w.abbreviateLargeValues(v)) }

// instanceLabel is an instance's name at the beginning of a line: in quotes, where it could be taken for something
// else.
func instanceLabel(token string) string {
	first, _ := utf8.DecodeRuneInString(token)
	if unicode.IsLetter(first) || unicode.IsNumber(first) || first == '_' {
		return token
	}
	return string(jsonval.Encode(token))
}

func (w *promptWriter) hasSingleUnnamedInstance() bool { return isOfSingleUnnamedInstance(w.idea) }

func isOfSingleUnnamedInstance(idea *ideafile.Idea) bool {
	tokens := idea.InstanceTokens()
	return len(tokens) == 1 && tokens[0] == ""
}

// writeNotes shows the notes of earlier replies.
func (w *promptWriter) writeNotes() {
	if len(w.Notes) == 0 {
		return
	}
	w.writeHeading("Your notes")
	more := " Where State tells otherwise, State is right."
	if w.OthersAreKnown && w.LeavesOutInstances() {
		more = fmt.Sprintf(
			" For the instances that are not shown they still stand: %s. For those above they may be wrong now.",
			w.whyOthersAreKnown())
	}
	w.writeLine("You wrote them beside your answers, as if the Calls of that answer had succeeded.%s", more)
	for _, n := range w.Notes {
		w.writeLabeledValue(fmt.Sprintf("- Answer %d: ", n.Request), n.Text)
	}
}

// whyOthersAreKnown says why the LLM's statements about the instances that it is not shown still hold.
func (w *promptWriter) whyOthersAreKnown() string {
	why := "no Call of theirs failed" + w.ifApprovals(", or was rejected or changed by a person")
	if o := w.Others; o.AwaitingPeople+o.Working > 0 {
		why += ", so far"
	}
	return why
}

// writeDraftOutput shows the output that the reply may put right.
func (w *promptWriter) writeDraftOutput() {
	d := w.DraftOutput
	if d == nil {
		return
	}
	w.writeHeading("Your output so far")
	more := "."
	if w.LeavesOutInstances() {
		more = fmt.Sprintf(
			" for the instances above. For the other instances, which are not shown, it still stands: %s.",
			w.whyOthersAreKnown())
	}
	w.writeLine("You gave it in answer %d. It does not count yet, since more is to be done%s Give it whole again, "+
		"put right where that is needed.", d.Request, more)
	w.writeLabeledValue("", d.Output)
}

// writeRequestedReply says what to answer now: at the end, where it is read last.
func (w *promptWriter) writeRequestedReply() {
	if len(w.Questions) > 0 {
		w.writeQuestions()
		return
	}
	w.writeHeading("What to do now")
	if w.OutputOnly {
		w.writeLine(`Everything is done. Write the output, in the form given above: {"calls": [], "output": …}.`)
		return
	}
	w.writeLine("%s", w.requestedCallsText())
	if w.MayBeLast {
		// where an output is wanted, writeOutputRules says it
		w.writeLine(finishedText+" "+askedAgainText, "", w.ifApprovals("are approved and "),
			w.ifApprovals(", or a person rejects or changes one"))
	}
	if w.idea.OutputSchema != nil && !w.ReplyMayHoldOutput() {
		w.writeLine(`The output is not wanted now: you are asked for it when all is done, and shown every State then.`)
	}
}

// requestedCallsText says which instances need Calls, and which others there are.
func (w *promptWriter) requestedCallsText() string {
	more := ""
	if maySayFinished(w.idea, w.RequestInput) {
		more = `, "finished": ...`
	}
	if mayHoldOutputBesideCalls(w.idea, w.RequestInput) {
		more += `, "output": ...`
	}
	if mayHoldNotes(w.idea, w.RequestInput) {
		more += `, "notes": ...`
	}
	answer := fmt.Sprintf(`Answer with {"calls": [...]%s}: every Call that can be planned now`, more)
	if w.hasSingleUnnamedInstance() {
		return answer + "."
	}
	text := fmt.Sprintf(`%s for the %d instances above.`, answer, len(w.Instances))
	if len(w.Instances) == 1 {
		text = fmt.Sprintf(`%s for %s.`, answer, w.Instances[0].Token)
	}
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
	if others != nil {
		text += " The others: " + strings.Join(others, ", ") + "."
	}
	if len(w.ReopenableTokens) > 0 {
		text += ` A Call that names a finished one takes it up again: ` + strings.Join(w.ReopenableTokens,
			", ") + `; "*" does not mean them.`
	}
	return text
}

// writeQuestions asks for the results of latent Calls, and for parameters that fit.
func (w *promptWriter) writeQuestions() {
	w.writeHeading("Results wanted")
	w.writeLine(
		`Plan nothing now. Only the results of these Calls are wanted, each as one entry {"_call": id, "_output": result} in "calls".`)
	if slices.ContainsFunc(w.Questions, func(q turn.LLMQuestion) bool { return q.ParamsError != "" }) {
		w.writeLine(
			`Where a line says that values do not fit, give {"_call": id, "_params": the same parameters, fitted to the tool} instead: ` +
				`bring the values into the right form; change and invent nothing.`)
	}
	for _, question := range w.Questions {
		call := fmt.Sprintf("%s %s %s", question.CallID, question.Tool, w.encode(question.Params))
		if question.Reasoning != "" {
			call += fmt.Sprintf(" (your reason for it: %s)", w.encode(question.Reasoning))
		}
		if question.ParamsError != "" {
			call += " does not fit: " + oneLine(question.ParamsError)
		}
		w.writeLine("- %s", call)
	}
}
