package activities

import (
	"fmt"
	"testing"

	"processidea/model/jsonval"
	"processidea/protocol"
)

// A thousand parts that each read the whole kept a process of 100,000 instances at its start. Not parallel: it counts the
// allocations of the program.
func TestGatheringReadsTheWholeOnceHoweverManyPartsThereAre(t *testing.T) {
	const instanceCount = 1_000
	context, tokens := []any{}, []string{}
	for n := range instanceCount {
		tokens = append(tokens, fmt.Sprint("a", n+1))
		context = append(context, map[string]any{"_instance": tokens[n], "type": "state",
			"state": map[string]any{"n": "1"}})
	}
	gather := func(partCount int) float64 {
		in := protocol.GatherInput{ProcessID: "p", GathersOnlyStates: true,
			Idea: map[string]any{"schema": map[string]any{"tools": map[string]any{}}, "context": context}}
		for n := range partCount {
			size := instanceCount / partCount
			in.Parts = append(in.Parts, protocol.GatherPart{ProcessID: protocol.PartID("p", n+1),
				InstanceTokens: tokens[n*size : (n+1)*size]})
		}
		return testing.AllocsPerRun(1, func() {
			env := newEnvironment()
			a := &Activities{}
			env.RegisterActivity(a.GatherParts)
			value, err := env.ExecuteActivity(a.GatherParts, in)
			if err != nil {
				t.Fatal(err)
			}
			var g protocol.GatherResult
			if err := value.Get(&g); err != nil || len(g.StateByInstance) != instanceCount ||
				jsonval.EncodeToString(g.StateByInstance["a1000"]) != `{"n":"1"}` {
				t.Fatalf("%d States, %v: %v", len(g.StateByInstance), g.StateByInstance["a1000"], err)
			}
		})
	}
	if few, many := gather(2), gather(200); many > 2*few {
		t.Errorf("200 parts take %.0f allocations, where 2 take %.0f", many, few)
	}
}
