package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"processidea/starter/command"
)

// starterVariable in the environment makes this program act as `starter`; profileVariable names the file for its heap
// profile.
const (
	starterVariable = "BENCH_MEMORY_STARTER"
	profileVariable = "BENCH_MEMORY_PROFILE"
)

// IsChild reports whether this process is one that is measured.
func IsChild() bool { return os.Getenv(starterVariable) != "" }

// RunChild runs `starter` with the command line of this process, and ends with its exit code.
func RunChild() {
	if path := os.Getenv(profileVariable); path != "" {
		go writeLargestHeapProfile(path)
	}
	command.Main(command.WithName("starter"))
}

// measure runs the case as `starter run` in a child process, and returns its peak memory in MB.
func (c Case) measure(ctx context.Context, o options) (mb float64, err error) {
	dir, err := os.MkdirTemp("", "bench-memory")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tool := httptest.NewServer(http.HandlerFunc(serveTool))
	defer tool.Close()
	w := c.Work(o.quick)
	scripted := &llm{replies: w.Replies}
	server := httptest.NewServer(scripted)
	defer server.Close()
	args, err := w.writeFiles(dir, tool.URL)
	if err != nil {
		return 0, err
	}
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, program, append(args, "--json", "--data", filepath.Join(dir, "data"))...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append(os.Environ(), starterVariable+"=1", profileVariable+"="+o.profile, "TEMPORAL_ADDRESS=",
		"OPENAI_BASE_URL="+server.URL+"/v1", "OPENAI_API_KEY=none",
		"PROCESSIDEA_HTTP_ALLOW="+strings.TrimPrefix(tool.URL, "http://"))
	var out, errorText bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errorText
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("starter run: %w: %s", err, lastLines(errorText.String()))
	}
	return peakOf(cmd.ProcessState), w.check(out.Bytes(), int(scripted.requestCount.Load()))
}

// check compares the result of a run with the work's expected outcome.
func (w Work) check(result []byte, requests int) error {
	var r struct {
		Status   string
		Calls    struct{ Done int }
		Failures any
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("read the result %.200q: %w", result, err)
	}
	if r.Status != "completed" || r.Calls.Done != w.DoneCalls || requests != len(w.Replies) {
		return fmt.Errorf("it ended as %q with %d Calls done after %d Requests; want %q, %d, %d; what failed: %.1000v",
			r.Status, r.Calls.Done, requests, "completed", w.DoneCalls, len(w.Replies), r.Failures)
	}
	return nil
}

func lastLines(errorText string) string {
	lines := strings.Split(strings.TrimSpace(errorText), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// ideaFile is the Idea of each case; %q is the address of its tool.
const ideaFile = `{"schema": {"tools": {"get": {"description": "A tool of the bench.", "type": "object",
	"properties": {"bytes": {"type": "integer"}, "text": {"type": "string"}}, "additionalProperties": false,
	"_activity": {"http": {"url": %q}}, "_timeout": "10m"}}},
"config": {"limits": {"requests": null, "tokens": null, "calls": null}, "gather": "10m", "llm": {"timeout": "30m"}},
"context": [{"type": "text", "text": "Go."}]}`

// writeFiles writes the Idea file and the file of instances. It returns the arguments of `starter` that run them.
func (w Work) writeFiles(dir, tool string) (args []string, err error) {
	idea := filepath.Join(dir, "idea.json")
	args = []string{"run", idea}
	err = os.WriteFile(idea, fmt.Appendf(nil, ideaFile, tool), 0o600)
	if err != nil || w.Instances == 0 {
		return args, err
	}
	rows := filepath.Join(dir, "instances.jsonl")
	f, err := os.Create(rows)
	if err != nil {
		return nil, err
	}
	lines := json.NewEncoder(f)
	for i := range w.Instances {
		err = cmp.Or(err, lines.Encode(w.Row(i)))
	}
	return append(args, "--instances", rows), cmp.Or(err, f.Close())
}
