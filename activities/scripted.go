package activities

import (
	"strconv"

	"processidea/internal/rehearsal"
	"processidea/llm"
)

// startScriptedLLM serves a replies file over HTTP on loopback, and returns a client of it. The header makes the server
// play the reply to the process's Request of this number.
func startScriptedLLM(replies string, turnNumber int) (c *llm.Client, header map[string]string, stop func(),
	err error) {
	parsed, err := rehearsal.Parse([]byte(replies))
	if err != nil {
		return nil, nil, nil, err
	}
	server, err := rehearsal.Start(parsed, rehearsal.WithoutLog())
	if err != nil {
		return nil, nil, nil, err
	}
	c, err = llm.New(llm.Config{BaseURL: server.URL(), Model: "rehearsal"})
	if err != nil {
		server.Close()
		return nil, nil, nil, err
	}
	return c, map[string]string{rehearsal.TurnHeader: strconv.Itoa(turnNumber)}, server.Close, nil
}
