package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"

	"processidea/activities"
	"processidea/devserver"
	"processidea/tools/httptool"
	"processidea/tools/mcptool"
	"processidea/worker/codecserver"
	"processidea/worker/engine"
)

// hosting is how a server of this program's own is to be.
type hosting struct {
	port, uiPort int  // 0: a free one; a negative UI port: no UI
	worker       bool // with a worker
	apart        bool // the worker reaches nothing but the LLM
	heard        activities.ReplyRecorder
}

// host runs the embedded server, and a worker if it is wanted, in this program until the session is closed. unlock lets
// go of the folder, which the caller has locked.
func (p place) host(ctx context.Context, unlock func(), h hosting) (*session, error) {
	s := &session{place: p, embedded: true, own: true, undo: []func(){unlock}}
	if err := s.serve(ctx, h); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *session) serve(ctx context.Context, h hosting) error {
	// What a killed program left would lead others astray.
	_ = os.Remove(filepath.Join(s.data, neighbourFile))
	log, err := s.logTo()
	if err != nil {
		return err
	}
	codec, err := s.codec(ctx)
	if err != nil {
		return err
	}
	server, err := devserver.Start(ctx, devserver.Options{
		Dir: s.data, Port: h.port, UIPort: h.uiPort, SearchAttributes: engine.SearchAttributes, CodecEndpoint: codec,
	})
	if err != nil {
		return noServer("start server in %s: %w", s.data, err)
	}
	s.undo = append(s.undo, server.Stop)
	s.ui = server.UIURL()
	o := client.Options{HostPort: server.Address(), Namespace: server.Namespace()}
	if err := s.open(ctx, o, s.store, log); err != nil {
		return err
	}
	parts := engine.Parts{Store: s.values, Log: log, Recorder: h.heard, StopTimeout: drain, Limits: engine.Alone}
	if h.apart {
		parts.HTTP, parts.MCP = httptool.New(httptool.Options{}), mcptool.New(mcptool.Options{})
	}
	parts = parts.FromEnvironment()
	if h.worker {
		if err := s.work(parts); err != nil {
			return err
		}
	}
	withdraw, err := s.announce(neighbour{
		Address: o.HostPort, Namespace: o.Namespace, UI: s.ui, PID: os.Getpid(),
		Store: s.store, Worker: h.worker, LLM: parts.LLM.Configured(),
	})
	if err != nil {
		return err
	}
	s.undo = append(s.undo, withdraw)
	return nil
}

// codec starts what the UI fetches payloads from. It comes before the server, so that the keys are looked at first.
func (s *session) codec(ctx context.Context) (endpoint string, err error) {
	store, err := openStore(ctx, s.store)
	if err != nil {
		return "", err
	}
	s.undo = append(s.undo, func() { _ = store.Close() })
	if err := store.NoteKeys(ctx); err != nil {
		return "", err
	}
	endpoint, stop, err := serveCodec(ctx, "127.0.0.1:0", codecserver.Options{Store: store})
	if err != nil {
		return "", err
	}
	s.undo = append(s.undo, stop)
	return endpoint, nil
}

// drain is how long Calls and Requests that run may still take when the program ends: whoever waits for it is a person.
const drain = 2 * time.Second

func (s *session) work(parts engine.Parts) error {
	w, err := engine.NewWorker(s.Client, parts)
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	s.undo = append(s.undo, w.Stop)
	return nil
}

const (
	logFile    = "worker.log"
	largestLog = 10 << 20 // bytes; a larger one is set aside when the next server starts
)

// logTo opens the file that takes the logs of the worker and of its client.
func (s *session) logTo() (*slog.Logger, error) {
	path := filepath.Join(s.data, logFile)
	if info, err := os.Stat(path); err == nil && info.Size() > largestLog {
		_ = os.Rename(path, path+".old")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	s.undo = append(s.undo, func() { _ = f.Close() })
	return slog.New(slog.NewTextHandler(f, nil)), nil
}
