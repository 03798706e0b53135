package model

import (
	"fmt"
	"testing"
)

func benchRun(b *testing.B, n int, call func(i int) map[string]any) {
	for b.Loop() {
		r := NewRun(playTools, nil, "")
		var running []Ready
		for i := 1; i <= n; i++ {
			r.Accept(1, i, call(i))
			running = append(running, r.Next()...)
		}
		r.Close(1)
		running = append(running, r.Next()...)
		for len(running) > 0 {
			id := running[0].Record.ID
			running = running[1:]
			r.Succeed(id, map[string]any{"k" + id: id})
			running = append(running, r.Next()...)
		}
		for _, rec := range r.Records() {
			if rec.Status != Done {
				b.Fatal(rec.ID, rec.Status, rec.Fault)
			}
		}
	}
}

func BenchmarkRun(b *testing.B) {
	b.Run("independent", func(b *testing.B) {
		benchRun(b, 200, func(i int) map[string]any {
			return map[string]any{"_tool": "work", "_outputPath": fmt.Sprintf("k%d", i)}
		})
	})
	b.Run("chain", func(b *testing.B) {
		benchRun(b, 200, func(i int) map[string]any {
			m := map[string]any{"_tool": "work", "_outputPath": fmt.Sprintf("k%d", i)}
			if i > 1 {
				m["p"] = fmt.Sprintf("†state.k%d", i-1)
			}
			return m
		})
	})
	b.Run("pushes", func(b *testing.B) {
		benchRun(b, 200, func(i int) map[string]any {
			return map[string]any{"_tool": "work", "_outputPath": "log", "_outputMethod": "push"}
		})
	})
	b.Run("whole", func(b *testing.B) {
		benchRun(b, 200, func(i int) map[string]any {
			return map[string]any{"_tool": "work", "_outputPath": "†state"}
		})
	})
	b.Run("backwards", func(b *testing.B) {
		benchRun(b, 200, func(i int) map[string]any {
			m := map[string]any{"_tool": "work", "_outputPath": fmt.Sprintf("k%d", i)}
			if i < 200 {
				m["p"] = fmt.Sprintf("†state.k%d", i+1)
			}
			return m
		})
	})
}
