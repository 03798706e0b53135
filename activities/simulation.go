package activities

import (
	"fmt"
	"strings"

	"processidea/activities/tools"
	"processidea/model"
	"processidea/protocol"
	"processidea/rehearsal"
)

// play makes up what a Tool returns. Nothing outside is touched. Of a Go function that says nothing in the file, what it
// returns is known all the same.
func (a *Activities) play(in protocol.ExecuteInput) (any, error) {
	output := in.Output
	if tool, ok := a.Tools.Lookup(in.Binding.Name); ok && output == nil && in.Binding.Kind == model.KindGo {
		output, _ = model.Decode(tool.Result)
	}
	value, err := model.MakeUp(in.Tool, output, in.Landing)
	if err != nil {
		return nil, tools.Final(fmt.Errorf("the tool %s cannot be simulated: %w", in.Tool, err))
	}
	return value, nil
}

// unplayable warns of a Tool for which no result can be made up.
func unplayable(t *model.Tool, b model.Binding) (ps model.Problems) {
	if b.Kind == model.KindLatent || b.Kind == model.KindDelegate || t.Output == nil {
		return nil
	}
	if _, err := model.MakeUp(t.Name, t.Output.Source, nil); err != nil {
		ps = append(ps, model.Problem{
			Path: model.JSONPath("$", "schema", "tools", t.Name, "_output"), Warning: true,
			Message: "the tool cannot be simulated, and its Calls fail: " + err.Error(),
		})
	}
	return ps
}

// sketched says whether replies are made up from schemas where nobody else gives one.
func sketched(idea *model.Idea) bool {
	return idea.Simulated != nil && idea.Simulated.Plans != model.ByLLM
}

// sketch makes up the reply to a Request of a simulation, as a line of a replies file; ok is false where somebody else
// answers: the LLM, or a script that has something new to say.
func sketch(idea *model.Idea, setup protocol.RequestSetup, brief *model.Brief, messages []model.PromptMessage) (line string, ok bool) {
	if !sketched(idea) || setup.Replies != "" && scriptAnswers(setup.Replies, brief, messages) {
		return "", false
	}
	solution := model.Encode(model.Sketch(idea, setup.Bindings, brief))
	return string(rehearsal.Reply{Content: string(solution)}.Line()), true
}

// scriptAnswers says whether the script has an answer to what is asked that it has not given before: it was written for
// other values than those that were made up. It gives as many answers as it has lines.
func scriptAnswers(replies string, brief *model.Brief, messages []model.PromptMessage) bool {
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
	said, err := model.DecodeObject([]byte(reply.Content))
	if err != nil {
		return true // what goes wrong with an LLM may be tried out too
	}
	calls, _ := said["calls"].([]any)
	return brief.Answers(calls)
}
