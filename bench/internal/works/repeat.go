package works

import (
	"context"
	"fmt"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/script"
	"processidea/model/jsonval"
)

// replyVariants are replies that an LLM may give to the same prompt: the same Plan in another order or with other
// names, a step left out, a value of its own. The first one is used as the fixed Plan.
var replyVariants = [][]string{
	{`{"_tool":"instant","n":"†state.n","_outputPath":"rated"}`,
		`{"_tool":"instant","n":"†state.rated","_outputPath":"paid"}`},
	{`{"_tool":"instant","n":"†state.rated","_outputPath":"paid"}`,
		`{"_tool":"instant","n":"†state.n","_outputPath":"rated"}`},
	{`{"_tool":"instant","n":"†state.n","_outputPath":"paid"}`},
	{`{"_tool":"instant","n":8,"_outputPath":"rated"}`, `{"_tool":"instant","n":"†state.rated","_outputPath":"paid"}`},
	{`{"_tool":"instant","n":"†state.n","_outputPath":"rating"}`,
		`{"_tool":"instant","n":"†state.rating","_outputPath":"paid"}`},
}

// repeatWork runs one process many times: with an LLM that does not always reply the same, and with the first reply as
// a fixed Plan. It counts the different end results: the Plan must give only one.
func repeatWork(ctx context.Context, r Round) error {
	n := r.pickSize(2*len(replyVariants), len(replyVariants))
	llmOutcomes, planOutcomes := map[string]bool{}, map[string]bool{}
	requestCount := 0
	for i := range n {
		llm, err := r.UseScript([]string{script.ReplyLine(replyVariants[i%len(replyVariants)], "null", ""),
			script.ReplyLine(nil, "null", "")})
		if err != nil {
			return err
		}
		id := fmt.Sprintf("repeat-%d-%d", r.Number, i)
		if err := r.runRepeated(ctx, id+"-llm", bed.TextMessage("Rate it and pay it."), llmOutcomes); err != nil {
			return err
		}
		requestCountBefore := len(llm.Requests())
		if err := r.runRepeated(ctx, id+"-plan", bed.PlanMessage("optimal", replyVariants[0]...),
			planOutcomes); err != nil {
			return err
		}
		requestCount += len(llm.Requests()) - requestCountBefore
	}
	r = r.withAxis("runs", n)
	r.FindOrAddFigure("different ends, by the Plan", "").Add(float64(len(planOutcomes))).WithLimit(1)
	r.FindOrAddFigure("different ends, by the LLM", "").Add(float64(len(llmOutcomes)))
	r.FindOrAddFigure("Requests of the Plan", "").Add(float64(requestCount))
	return nil
}

// runRepeated runs the process once and adds its end result to ends.
func (r Round) runRepeated(ctx context.Context, processID, messagesJSON string, outcomes map[string]bool) error {
	result, err := r.Run(ctx, bed.ProcessSpec{ID: processID, ToolJSON: bed.GoToolJSON("instant"),
		MessagesJSON: `{"type": "state", "state": {"n": 7}}, ` + messagesJSON})
	if err != nil {
		return err
	}
	outcomes[jsonval.EncodeToString(jsonval.ToJSONValue(result.Instances))] = true
	return nil
}
