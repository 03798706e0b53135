package works

import (
	"context"
	"fmt"
	"sync"
	"time"

	"processidea/bench/internal/bed"
	"processidea/bench/internal/script"
	"processidea/model/jsonval"
)

// diamondWork runs the diamond of script.DiamondReplyLines. With inOneRequest the reply wires the output by References;
// otherwise a second Request asks for it. The limit is a multiple of plain Go.
func diamondWork(inOneRequest bool, maxFactorOfPlain float64) func(context.Context, Round) error {
	return func(ctx context.Context, r Round) error {
		replyLines := script.DiamondReplyLines(inOneRequest, r.pace())
		plainDuration, err := r.timeDiamondWithoutEngine(ctx, replyLines)
		if err != nil {
			return err
		}
		took, err := r.runDiamond(ctx, "diamond", replyLines)
		if err == nil {
			r.withAxis("calls", len(script.DiamondDependencies)).FindOrAddFigure("time",
				"s").Add(took.Seconds()).AddPlainGo(
				plainDuration.Seconds()).WithPlainRatioLimit(maxFactorOfPlain)
		}
		return err
	}
}

func (r Round) runDiamond(ctx context.Context, processID string, replyLines []string) (time.Duration, error) {
	if _, err := r.UseScript(replyLines); err != nil {
		return 0, err
	}
	begin := time.Now()
	result, err := r.Run(ctx, bed.ProcessSpec{ID: processID, ToolJSON: bed.GoToolJSON("wait"),
		MessagesJSON:     bed.TextMessage("Go."),
		OutputSchemaJSON: `{"type": "object", "properties": {"text": {"type": ["string", "integer"]}}, "required": ["text"]}`})
	took := time.Since(begin)
	if err == nil && (result.Calls.Done != len(script.DiamondDependencies) || result.Output == nil ||
		result.RequestCount != len(replyLines)) {
		err = fmt.Errorf("it came to %s", jsonval.Encode(jsonval.ToJSONValue(result)))
	}
	return took, err
}

// timeDiamondWithoutEngine starts each Call as soon as it is complete in the stream and its inputs exist. It asks for
// the output if the reply did not wire it.
func (r Round) timeDiamondWithoutEngine(ctx context.Context, replyLines []string) (time.Duration, error) {
	if _, err := r.UseScript(replyLines); err != nil {
		return 0, err
	}
	begin := time.Now()
	err := runDiamondWithoutEngine(ctx, r.TestBed)
	if err == nil && len(replyLines) > 1 {
		_, err = askLLMWithoutEngine(ctx, r.TestBed, "The output?")
	}
	return time.Since(begin), err
}

// runDiamondWithoutEngine runs the Calls of the diamond as the stream gives them.
func runDiamondWithoutEngine(ctx context.Context, b *bed.TestBed) error {
	doneChannels := make([]chan bool, len(script.DiamondDependencies)+1)
	for i := range doneChannels {
		doneChannels[i] = make(chan bool)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	err := streamCallsWithoutEngine(ctx, b, "Go.", func(call bed.ToolInput) {
		group.Go(func() {
			for _, input := range script.DiamondDependencies[call.N-1] {
				select {
				case <-doneChannels[input]:
				case <-ctx.Done():
					return
				}
			}
			_, _ = bed.Wait200ms(ctx, call)
			close(doneChannels[call.N])
		})
	})
	if err != nil {
		stop() // Calls wait for others that will not come
	}
	group.Wait()
	return err
}
