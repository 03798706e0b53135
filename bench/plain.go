package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// plainSolution is what an LLM says, as plain Go reads it.
type plainSolution struct {
	Calls  []map[string]any `json:"calls"`
	Output any              `json:"output"`
}

// askPlain asks the LLM over HTTP as a program would that keeps nothing: the whole stream, then its JSON.
func (b *bed) askPlain(ctx context.Context, prompt string) (*plainSolution, error) {
	said, err := b.hear(ctx, prompt)
	if err != nil {
		return nil, fmt.Errorf("ask in plain Go: %w", err)
	}
	var s plainSolution
	return &s, json.Unmarshal([]byte(said), &s)
}

func (b *bed) hear(ctx context.Context, prompt string) (string, error) {
	body, err := json.Marshal(map[string]any{"model": "plain", "stream": true, "messages": []any{map[string]any{"role": "user", "content": prompt}}})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.llm.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the LLM's server answers %s", answer.Status)
	}
	return readStream(bufio.NewScanner(answer.Body))
}

// readStream puts the pieces of an event stream together.
func readStream(lines *bufio.Scanner) (string, error) {
	var all strings.Builder
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return "", err
		}
		for _, c := range chunk.Choices {
			all.WriteString(c.Delta.Content)
		}
	}
	return all.String(), lines.Err()
}
