package activities

import (
	"strconv"
	"strings"

	"processidea/internal/rehearsal"
	"processidea/llm"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/prompt"
	"processidea/model/simulate"
	"processidea/model/turn"
	"processidea/protocol"
)

// fakesLLMReplies reports whether replies are made up from schemas where no script gives one.
func fakesLLMReplies(idea *ideafile.Idea) bool {
	return idea.Simulation != nil && idea.Simulation.LLMRepliesFrom != ideafile.FakedByLLM
}

// makeFakeReply makes up the reply to a Request of a simulation, as a line of a replies file. ok is false if the LLM
// answers, or if a script has an unused line for the Request.
func makeFakeReply(idea *ideafile.Idea, setup protocol.RequestSetup, input *turn.RequestInput,
	messages []prompt.Message) (replyLine string, ok bool) {
	if !fakesLLMReplies(idea) || (setup.ScriptedReplies != "" &&
		hasScriptedAnswer(setup.ScriptedReplies, input, messages)) {
		return "", false
	}
	solution := jsonval.Encode(simulate.FakeSolution(idea, setup.Bindings, input))
	return string(rehearsal.Reply{Content: string(solution)}.Line()), true
}

// hasScriptedAnswer reports whether the script has an unused answer to this Request. The script may have none, because
// it was written for other values than the made-up ones, and has one answer a line.
func hasScriptedAnswer(scriptedReplies string, input *turn.RequestInput, messages []prompt.Message) bool {
	replyList, err := rehearsal.Parse([]byte(scriptedReplies))
	if err != nil {
		return true // the Request reports the error
	}
	texts := jsonval.Map(messages, func(m prompt.Message) string { return m.Content })
	reply, ok := rehearsal.ChooseReply(replyList, input.TurnNumber, strings.Join(texts, "\n"))
	if !ok || input.TurnNumber > len(replyList) {
		return false
	}
	solution, err := jsonval.DecodeObject([]byte(reply.Content))
	if err != nil {
		return true // a script may also try out what goes wrong with an LLM
	}
	calls, _ := solution["calls"].([]any)
	return simulate.AnswersRequest(input, calls)
}

// startScriptedLLM serves a replies file over HTTP on loopback, and returns a client of it. The header makes the server
// play the reply to the process's Request of this number.
func startScriptedLLM(scriptedReplies string, turnNumber int) (c *llm.Client, header map[string]string, stop func(),
	err error) {
	replyList, err := rehearsal.Parse([]byte(scriptedReplies))
	if err != nil {
		return nil, nil, nil, err
	}
	server, err := rehearsal.Start(replyList, rehearsal.WithoutRequestLog())
	if err != nil {
		return nil, nil, nil, err
	}
	c, err = llm.New(llm.Config{BaseURL: server.URL(), Model: "rehearsal"})
	if err != nil {
		server.Close()
		return nil, nil, nil, err
	}
	return c, map[string]string{rehearsal.TurnNumberHeader: strconv.Itoa(turnNumber)}, server.Close, nil
}
