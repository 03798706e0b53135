package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"processidea/internal/pause"
)

// program is a program that is killed and restarted. If it ends by itself, as a worker does without a server, it is
// restarted too, as a supervisor would do.
type program struct {
	bed  *testBed
	args []string
	stop context.CancelFunc
	done chan struct{}
}

func (b *testBed) program(name string, args ...string) *program {
	return &program{bed: b, args: append([]string{filepath.Join(b.dir, name)}, args...)}
}

// start starts the program and keeps it running until kill.
func (p *program) start() error {
	log, err := os.OpenFile(p.args[0]+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	p.stop, p.done = stop, ended
	go func() {
		defer close(ended)
		defer log.Close()
		for ctx.Err() == nil {
			cmd := exec.CommandContext(ctx, p.args[0], p.args[1:]...) // cancelling ctx kills it with SIGKILL
			cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = p.bed.environment(), p.bed.dir, log, log
			_ = cmd.Run()
			_ = pause.For(ctx, 200*time.Millisecond)
		}
	}()
	return nil
}

// kill ends the program with SIGKILL.
func (p *program) kill() {
	if p != nil && p.stop != nil {
		p.stop()
		<-p.done
	}
}
