package dataflow_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"processidea/model/dataflow"
	"processidea/model/ideafile"
	"processidea/model/modeltest"
)

// benchRun has so many Calls accepted, and then done in the order of next.
func benchRun(b *testing.B, n int, call func(i int) map[string]any, next func(running int) int) {
	for b.Loop() {
		r := dataflow.New(modeltest.RandomPlanPalette, nil, "")
		var running []dataflow.ReadyCall
		for i := 1; i <= n; i++ {
			r.AcceptCall(1, i, ideafile.ParseWrittenCall(call(i)))
			running = append(running, r.Advance()...)
		}
		r.CloseRequest(1)
		running = append(running, r.Advance()...)
		for len(running) > 0 {
			at := next(len(running))
			id := running[at].Record.ID
			running = slices.Delete(running, at, at+1)
			r.SucceedCall(id, map[string]any{"k" + id: id})
			running = append(running, r.Advance()...)
		}
		for _, rec := range r.CallRecords() {
			if rec.Status != ideafile.CallDone {
				b.Fatal(rec.ID, rec.Status, rec.Fault)
			}
		}
	}
}

func first(int) int { return 0 }

func BenchmarkRun(b *testing.B) {
	for _, n := range []int{100, 200, 400} {
		b.Run(fmt.Sprintf("independent, any order, %d", n), func(b *testing.B) {
			benchRun(b, n, func(i int) map[string]any {
				return map[string]any{"_tool": "work", "_outputPath": fmt.Sprintf("k%d", i)}
			}, rand.Intn)
		})
	}
	b.Run("independent", func(b *testing.B) {
		benchRun(b, 200, func(i int) map[string]any {
			return map[string]any{"_tool": "work", "_outputPath": fmt.Sprintf("k%d", i)}
		}, first)
	})
	b.Run("chain", func(b *testing.B) {
		benchRun(b, 200, func(i int) map[string]any {
			m := map[string]any{"_tool": "work", "_outputPath": fmt.Sprintf("k%d", i)}
			if i > 1 {
				m["p"] = fmt.Sprintf("†state.k%d", i-1)
			}
			return m
		}, first)
	})
	b.Run("pushes", func(b *testing.B) {
		benchRun(b, 200, func(i int) map[string]any {
			return map[string]any{"_tool": "work", "_outputPath": "log", "_outputMethod": "push"}
		}, first)
	})
	b.Run("whole", func(b *testing.B) {
		benchRun(b, 200, func(i int) map[string]any {
			return map[string]any{"_tool": "work", "_outputPath": "†state"}
		}, first)
	})
	b.Run("backwards", func(b *testing.B) {
		benchRun(b, 200, func(i int) map[string]any {
			m := map[string]any{"_tool": "work", "_outputPath": fmt.Sprintf("k%d", i)}
			if i < 200 {
				m["p"] = fmt.Sprintf("†state.k%d", i+1)
			}
			return m
		}, first)
	})
}
