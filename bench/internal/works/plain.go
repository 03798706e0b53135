package works

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"processidea/bench/internal/bed"
)

// plainCall is a Call of the LLM as plain Go reads it.
type plainCall struct {
	bed.ToolInput
	OutputPath string `json:"_outputPath"`
}

// askLLMWithoutEngine asks the LLM as a program without durability would: it reads the whole stream, then the Calls in
// its JSON.
func askLLMWithoutEngine(ctx context.Context, b *bed.TestBed, prompt string) ([]plainCall, error) {
	var reply bytes.Buffer
	if err := streamReply(ctx, b, prompt, &reply); err != nil {
		return nil, fmt.Errorf("ask in plain Go: %w", err)
	}
	var solution struct{ Calls []plainCall }
	err := json.Unmarshal(reply.Bytes(), &solution)
	return solution.Calls, err
}

// streamCallsWithoutEngine asks the LLM, and calls each with the input of a Call as soon as the Call is complete in the
// stream. It returns at the end of the stream.
func streamCallsWithoutEngine(ctx context.Context, b *bed.TestBed, prompt string, onCall func(bed.ToolInput)) error {
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(streamReply(ctx, b, prompt, w)) }()
	d := json.NewDecoder(r)
	for range 3 { // the tokens {, "calls" and [
		if _, err := d.Token(); err != nil {
			return fmt.Errorf("ask in plain Go: %w", err)
		}
	}
	for d.More() {
		var call bed.ToolInput
		if err := d.Decode(&call); err != nil {
			return fmt.Errorf("ask in plain Go: %w", err)
		}
		onCall(call)
	}
	_, err := io.Copy(io.Discard, r)
	return err
}

// streamReply asks the LLM and writes the reply to the writer as it arrives.
func streamReply(ctx context.Context, b *bed.TestBed, prompt string, out io.Writer) error {
	body, err := json.Marshal(map[string]any{"model": "plain", "stream": true,
		"messages": []any{map[string]any{"role": "user", "content": prompt}}})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.LLMURL()+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the LLM's server answers %s", answer.Status)
	}
	return readStream(bufio.NewScanner(answer.Body), out)
}

// readStream writes the content of an event stream to the writer.
func readStream(lines *bufio.Scanner, out io.Writer) error {
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return err
		}
		for _, c := range chunk.Choices {
			if _, err := io.WriteString(out, c.Delta.Content); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}
