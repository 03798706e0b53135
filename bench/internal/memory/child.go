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

// asStarter says in the environment that this program is `starter`, profileTo where it writes a profile of its heap.
const (
	asStarter = "BENCH_MEMORY_STARTER"
	profileTo = "BENCH_MEMORY_PROFILE"
)

// IsChild reports whether this process is one of those that are measured.
func IsChild() bool { return os.Getenv(asStarter) != "" }

// Child is `starter` with the command line of this process, and ends with its exit code.
func Child() {
	if path := os.Getenv(profileTo); path != "" {
		go keepLargest(path)
	}
	command.Main(command.WithName("starter"))
}

// measure runs the case in a process of its own, and gives the most memory that it had at a time, in MB.
func (c Case) measure(ctx context.Context, o options) (mb float64, err error) {
	dir, err := os.MkdirTemp("", "bench-memory")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tool := httptest.NewServer(http.HandlerFunc(serveTool))
	defer tool.Close()
	w := c.Work(o.quick)
	asked := &llm{replies: w.Replies}
	server := httptest.NewServer(asked)
	defer server.Close()
	if err := w.write(dir, tool.URL); err != nil {
		return 0, err
	}
	s := starter{dir: dir, env: []string{
		"OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_API_KEY=none",
		"PROCESSIDEA_HTTP_ALLOW=" + strings.TrimPrefix(tool.URL, "http://"),
	}}
	if s.program, err = os.Executable(); err != nil {
		return 0, err
	}
	return s.run(ctx, w, asked, o.profile)
}

// starter starts `starter` in this program.
type starter struct {
	program, dir string
	env          []string
}

func (s starter) command(ctx context.Context, profile string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.program, append(args, "--data", filepath.Join(s.dir, "data"))...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append(append(os.Environ(), asStarter+"=1", profileTo+"="+profile, "TEMPORAL_ADDRESS="), s.env...)
	return cmd
}

// run measures `starter run`.
func (s starter) run(ctx context.Context, w Work, asked *llm, profile string) (mb float64, err error) {
	cmd := s.command(ctx, profile, w.arguments(s.dir)...)
	out, err := output(cmd)
	if err == nil {
		err = w.check(out, asked)
	}
	return peakOf(cmd.ProcessState), err
}

func output(cmd *exec.Cmd) ([]byte, error) {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("starter %s: %w: %s", cmd.Args[1], err, lastLines(said.String()))
	}
	return out.Bytes(), nil
}

// arguments are those of `starter run`.
func (w Work) arguments(dir string) []string {
	args := []string{"run", filepath.Join(dir, "idea.json"), "--json"}
	if w.Instances > 0 {
		args = append(args, "--instances", filepath.Join(dir, "instances.jsonl"))
	}
	return args
}

// check holds the result of a run against what the work comes to.
func (w Work) check(result []byte, asked *llm) error {
	var r struct {
		Status   string
		Calls    struct{ Done int }
		Failures any
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("read the result %.200q: %w", result, err)
	}
	if r.Status != "completed" || r.Calls.Done != w.Done || asked.requests() != len(w.Replies) {
		return fmt.Errorf("it ended as %q with %d Calls done after %d Requests; want %q, %d, %d; what failed: %.1000v",
			r.Status, r.Calls.Done, asked.requests(), "completed", w.Done, len(w.Replies), r.Failures)
	}
	return nil
}

func lastLines(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// write writes the Idea file, and the file of instances.
func (w Work) write(dir, tool string) error {
	idea := map[string]any{
		"schema": map[string]any{"tools": map[string]any{"get": map[string]any{
			"description": "A tool of the bench.", "type": "object", "properties": map[string]any{
				"bytes": map[string]any{"type": "integer"}, "text": map[string]any{"type": "string"}},
			"additionalProperties": false,
			"_activity":            map[string]any{"http": map[string]any{"url": tool}}, "_timeout": "10m",
		}}},
		"config": map[string]any{"limits": map[string]any{"requests": nil, "tokens": nil, "calls": nil},
			"gather": "10m", "llm": map[string]any{"timeout": "30m"}},
		"context": []any{map[string]any{"type": "text", "text": "Go."}},
	}
	data, err := json.Marshal(idea)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "idea.json"), data, 0o600)
	}
	if err != nil || w.Instances == 0 {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "instances.jsonl"))
	if err != nil {
		return err
	}
	rows := json.NewEncoder(f)
	for i := range w.Instances {
		if err = rows.Encode(w.Row(i)); err != nil {
			break
		}
	}
	return cmp.Or(err, f.Close())
}
