package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"golang.org/x/sync/errgroup"

	"processidea/internal/pause"
	"processidea/model/loop"
)

// trial holds what is tried, and what came of it.
type trial struct {
	*testBed
	cases           []testCase
	figures         *figures
	referenceByCase map[string]*startedProcess // the undisturbed processes, by case
	// failedKeys holds Idempotency-Keys of failed Calls: the LLM may plan these Calls again under other keys.
	failedKeys map[string]bool
}

// startedProcess is a business process that was started.
type startedProcess struct {
	id       string
	testCase testCase
	result   *loop.Result
	err      error
}

// maxKillsPerWave is the maximum number of kills in one wave of processes.
const maxKillsPerWave = 5

// processTimeout is how long a process may take after the last kill: a lost worker is noticed within seconds.
const processTimeout = 3 * time.Minute

// runWithoutKills runs every case once with nothing killed.
func (r *trial) runWithoutKills(ctx context.Context) error {
	begin := time.Now()
	processes, err := r.startAll(ctx, "calm")
	if err != nil {
		return err
	}
	r.awaitAll(ctx, processes)
	r.figures.BaselineSeconds = seconds(time.Since(begin))
	r.referenceByCase = map[string]*startedProcess{}
	for _, p := range processes {
		if p.err != nil {
			return fmt.Errorf("undisturbed, %s does not end: %w", p.id, p.err)
		}
		if p.result.Status != loop.StatusCompleted && p.result.Calls.Undone == 0 { // a saga has failed
			return fmt.Errorf("undisturbed, %s does not complete: %+v", p.id, p.result)
		}
		r.referenceByCase[p.testCase.name] = p
	}
	return nil
}

// runWithKills runs the cases wave after wave until there were enough kills.
func (r *trial) runWithKills(ctx context.Context, o options) error {
	random := rand.New(rand.NewPCG(o.seed, 0)) //nolint:gosec // the moments must come again with the same seed
	for wave := 1; r.figures.killCount() < o.kills && ctx.Err() == nil; wave++ {
		processes, err := r.startAll(ctx, fmt.Sprintf("w%d", wave))
		if err != nil {
			return err
		}
		for n := 0; n < maxKillsPerWave && r.figures.killCount() < o.kills && !r.allEnded(ctx, processes); n++ {
			if err := r.killRandom(ctx, random); err != nil {
				return err
			}
		}
		begin := time.Now()
		r.awaitAll(ctx, processes)
		r.figures.SlowestSeconds = max(r.figures.SlowestSeconds, seconds(time.Since(begin)))
		for _, p := range processes {
			r.checkProcess(ctx, p)
		}
	}
	return ctx.Err()
}

// killRandom kills the worker, the server or both at a random moment, and starts them again.
func (r *trial) killRandom(ctx context.Context, random *rand.Rand) error {
	delay := time.Duration(random.Int64N(int64(3 * time.Second)))
	n := random.IntN(3)
	name := []string{"worker", "server", "both"}[n]
	victims := [][]*program{{r.worker}, {r.server}, {r.worker, r.server}}[n]
	if err := pause.For(ctx, delay); err != nil {
		return err
	}
	for _, v := range victims {
		v.kill()
	}
	r.figures.addKill(name, delay)
	for _, v := range victims {
		if err := v.start(); err != nil {
			return err
		}
	}
	return nil
}

// startAll starts a process of every case, all at once.
func (r *trial) startAll(ctx context.Context, wave string) ([]*startedProcess, error) {
	processes := make([]*startedProcess, len(r.cases))
	g, ctx := errgroup.WithContext(ctx)
	for n, c := range r.cases {
		processes[n] = &startedProcess{id: c.name + "-" + wave, testCase: c}
		g.Go(func() error { return r.startOne(ctx, processes[n]) })
	}
	return processes, g.Wait()
}

func (r *trial) startOne(ctx context.Context, p *startedProcess) error {
	file, err := p.testCase.writeFile(r.dir, p.id)
	if err != nil {
		return err
	}
	args := []string{"run", file, "--id", p.id, "--detach"}
	if p.testCase.instances != "" {
		args = append(args, "--instances", p.testCase.instances)
	}
	return eventually(ctx, time.Minute, func() error {
		cmd := exec.CommandContext(ctx, filepath.Join(r.dir, "starter"), args...)
		cmd.Env = r.environment()
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("start %s: %w: %s", p.id, err, out)
		}
		return nil
	})
}

// allEnded reports whether the server lists all processes as ended.
func (r *trial) allEnded(ctx context.Context, processes []*startedProcess) bool {
	for _, p := range processes {
		d, err := r.client.Temporal().DescribeWorkflowExecution(ctx, p.id, "")
		if err != nil || d.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			return false
		}
	}
	return true
}

// awaitAll waits until all processes have ended, and makes people's decisions meanwhile.
func (r *trial) awaitAll(ctx context.Context, processes []*startedProcess) {
	ctx, cancel := context.WithTimeout(ctx, processTimeout)
	defer cancel()
	peopleCtx, stopPeople := context.WithCancel(ctx)
	defer stopPeople()
	go r.decideAll(peopleCtx, processes)
	var g errgroup.Group
	for _, p := range processes {
		g.Go(func() error {
			p.await(ctx, r)
			return nil
		})
	}
	_ = g.Wait()
}

// await waits until the process has ended. It survives outages of the server.
func (p *startedProcess) await(ctx context.Context, r *trial) {
	p.err = errors.New("it does not end")
	for ctx.Err() == nil {
		tryCtx, cancel := context.WithTimeout(ctx, 10*time.Second)
		result, err := r.client.Process(p.id).Result(tryCtx)
		cancel()
		if err == nil {
			p.result, p.err = &result, nil
			return
		}
		if ctx.Err() == nil {
			p.err = err
		}
		if v, err := r.client.Process(p.id).Status(ctx); err == nil && v.Status == loop.StatusPaused {
			p.err = fmt.Errorf("it is paused: %s", strings.Join(v.Waiting, "; ")) // nobody resumes it
			return
		}
		_ = pause.For(ctx, 200*time.Millisecond)
	}
}
