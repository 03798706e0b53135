package activities

import (
	"fmt"
	"strings"

	"processidea/activities/tools"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/prompt"
	"processidea/model/simulate"
	"processidea/model/turn"
	"processidea/protocol"
	"processidea/rehearsal"
)

// play makes up what a Tool returns. Nothing outside is touched. Of a Go function that says nothing in the file, what it
// returns is known all the same.
func (a *Activities) play(in protocol.ExecuteInput) (any, error) {
	output := in.Output
	if tool, ok := a.Tools.Lookup(in.Binding.Name); ok && output == nil && in.Binding.Kind == ideafile.KindGo {
		output, _ = jsonval.Decode(tool.Result)
	}
	value, err := simulate.FakeResult(in.Tool, output, in.Landing)
	if err != nil {
		return nil, tools.Final(fmt.Errorf("the tool %s cannot be simulated: %w", in.Tool, err))
	}
	return value, nil
}

// unplayable warns of a Tool for which no result can be made up.
func unplayable(t *ideafile.Tool, b ideafile.Binding) (ps diag.Problems) {
	if b.Kind == ideafile.KindLatent || b.Kind == ideafile.KindDelegate || t.Output == nil {
		return nil
	}
	if _, err := simulate.FakeResult(t.Name, t.Output.Source, nil); err != nil {
		ps = append(ps, diag.Problem{
			Path: jsonval.JSONPath("$", "schema", "tools", t.Name, "_output"), Warning: true,
			Message: "the tool cannot be simulated, and its Calls fail: " + err.Error(),
		})
	}
	return ps
}

// sketched says whether replies are made up from schemas where nobody else gives one.
func sketched(idea *ideafile.Idea) bool {
	return idea.Simulated != nil && idea.Simulated.Plans != ideafile.FakedByLLM
}

// sketch makes up the reply to a Request of a simulation, as a line of a replies file; ok is false where somebody else
// answers: the LLM, or a script that has something new to say.
func sketch(idea *ideafile.Idea, setup protocol.RequestSetup, brief *turn.RequestInput, messages []prompt.PromptMessage) (line string, ok bool) {
	if !sketched(idea) || setup.Replies != "" && scriptAnswers(setup.Replies, brief, messages) {
		return "", false
	}
	solution := jsonval.Encode(simulate.FakeReply(idea, setup.Bindings, brief))
	return string(rehearsal.Reply{Content: string(solution)}.Line()), true
}

// scriptAnswers says whether the script has an answer to what is asked that it has not given before: it was written for
// other values than those that were made up. It gives as many answers as it has lines.
func scriptAnswers(replies string, brief *turn.RequestInput, messages []prompt.PromptMessage) bool {
	parsed, err := rehearsal.Parse([]byte(replies))
	if err != nil {
		return true // the Request says what is wrong
	}
	var prompt strings.Builder
	for n, m := range messages {
		if n > 0 {
			prompt.WriteString("\n")
		}
		prompt.WriteString(m.Content)
	}
	reply, ok := rehearsal.Choose(parsed, brief.Turn, prompt.String())
	if !ok || brief.Turn > len(parsed) {
		return false
	}
	said, err := jsonval.DecodeObject([]byte(reply.Content))
	if err != nil {
		return true // what goes wrong with an LLM may be tried out too
	}
	calls, _ := said["calls"].([]any)
	return simulate.Answers(brief, calls)
}
