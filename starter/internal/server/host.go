package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	sdk "go.temporal.io/sdk/client"

	"processidea/activities"
	"processidea/client"
	"processidea/connect"
	gateway "processidea/gateway/server"
	"processidea/internal/flags"
	"processidea/internal/heap"
	"processidea/internal/pause"
	"processidea/starter/internal/exit"
	"processidea/store/blobs"
	"processidea/store/signing"
	"processidea/tools/httptool"
	"processidea/tools/mcptool"
	"processidea/worker/codecserver"
	"processidea/worker/engine"
)

// Hosting are the options of a server that runs in this program.
type Hosting struct {
	Port, UIPort int  // 0: any free port, or a usual one for the UI; a negative UI port: no UI
	Worker       bool // with a worker
	Isolated     bool // the worker reaches nothing but the LLM
	// GatewayPort is the gateway's port; 0 picks a usual one, a negative one disables the gateway.
	GatewayPort int
	// Warn also prints the log's warnings on the terminal.
	Warn bool
	// ReplyRecorder receives what the LLM said; may be nil.
	ReplyRecorder activities.ReplyRecorder
}

// defaultUIPorts are the ports to try, in this order, for a web UI that has no last port.
var defaultUIPorts = []int{8233, 8234, 8235, 8236, 8237, 8238, 8239, 8240, 8241, 8242}

// host runs the embedded server, and a worker if h.Worker is set, in this program until the session is closed. The
// caller has locked the folder; unlock releases it.
func (p Place) host(ctx context.Context, unlock func(), h Hosting) (*Session, error) {
	s := &Session{Place: p, Embedded: true, RunsServer: true, cleanups: []func(){unlock}}
	if err := s.serve(ctx, h); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// HostAlone runs a server on the folder. It refuses if another program runs one there, and waits for one that is
// stopping.
func (p Place) HostAlone(ctx context.Context, h Hosting) (*Session, error) {
	if err := p.makeFolder(); err != nil {
		return nil, err
	}
	const every = 300 * time.Millisecond
	for wait := time.Duration(0); wait < serverTimeout; wait += every {
		unlock, ok, err := p.lock()
		if err != nil {
			return nil, exit.Unreachablef("lock %s: %w", p.Data, err)
		}
		if ok {
			return p.host(ctx, unlock, h)
		}
		if n, ok := p.RunningServer(); ok {
			return nil, exit.Usagef("start server in %s: another program (process %d) runs one there, at %s", p.Data,
				n.PID, n.Address)
		}
		_ = pause.For(ctx, every)
	}
	return nil, exit.Usagef("start server in %s: another program has locked the folder", p.Data)
}

func (s *Session) serve(ctx context.Context, h Hosting) error {
	// A killed program may have left this file, which names a server that is gone.
	_ = os.Remove(filepath.Join(s.Place.Data, ServerFile))
	log, err := s.logTo(h.Warn)
	if err != nil {
		return err
	}
	set, err := s.readSettings(ctx, h, log)
	if err != nil {
		return err
	}
	unpacker, codec, err := s.codec(ctx, log)
	if err != nil {
		return err
	}
	server, err := s.Place.Temporal.Start(ctx, TemporalOptions{
		Memory: set.memory, Dir: s.Place.Data, Port: h.Port, UIPort: h.UIPort, DefaultUIPorts: s.Place.uiPorts(),
		CodecEndpoint: codec,
	})
	if err != nil {
		return exit.Unreachablef("start server in %s: %w", s.Place.Data, err)
	}
	s.cleanups = append(s.cleanups, server.Stop)
	s.UI = server.UIURL()
	s.Place.keepUIPort(s.UI)
	o := sdk.Options{HostPort: server.Address(), Namespace: server.Namespace()}
	if err := s.open(ctx, o, s.Place.Store, log); err != nil {
		return err
	}
	if err := s.waitForStore(ctx, unpacker); err != nil {
		return err
	}
	set.parts.Store = s.Archive().Store()
	if h.Worker {
		if err := s.startWorker(set.parts); err != nil {
			return err
		}
	}
	if err := s.serveGateway(ctx, h.GatewayPort, set.gateway); err != nil {
		return err
	}
	withdraw, err := s.Place.announce(Running{
		Address: o.HostPort, Namespace: o.Namespace, UI: s.UI, Gateway: s.Gateway, PID: os.Getpid(),
		Store: s.Place.Store, Worker: h.Worker, LLM: set.parts.LLM.Configured(),
	})
	if err != nil {
		return err
	}
	s.cleanups = append(s.cleanups, withdraw)
	return nil
}

// settings are the settings of the environment for what runs here.
type settings struct {
	parts   engine.Parts // without the store
	memory  int64        // the limit of the whole program; 0: the default
	gateway gateway.Options
}

// readSettings reads all settings before anything is started with them, and reports all that are wrong.
func (s *Session) readSettings(ctx context.Context, h Hosting, log *slog.Logger) (set settings, err error) {
	var wrong []error
	note := func(err error) { wrong = append(wrong, err) }
	_, err = client.KeysFromEnvironment()
	note(err)
	set.parts = engine.Parts{Log: log, Recorder: h.ReplyRecorder, StopTimeout: drainTimeout}
	if h.Isolated { // a second safeguard: simulated Calls have no runner anyway
		set.parts.HTTP, set.parts.MCP = httptool.New(httptool.Options{}), mcptool.New(mcptool.Options{})
	}
	set.parts = set.parts.With(s.Place.Additions)
	if h.Worker {
		set.parts, err = set.parts.Check()
		note(err)
	}
	set.parts.Limits, err = engine.EmbeddedLimitsIn(os.Getenv)
	note(err)
	set.memory, err = heap.BytesFromEnv(os.Getenv, heap.LimitVariable)
	note(err)
	if h.GatewayPort >= 0 {
		set.gateway.Log = log
		set.gateway.Hooks, err = gateway.HooksFromEnvironment(os.Getenv)
		note(err)
		if set.gateway.Deciders = set.parts.Deciders; !h.Worker {
			set.gateway.Deciders, err = signing.FromEnvironment(ctx, os.Getenv)
			note(err)
		}
	}
	if err = flags.InvalidSettings(wrong...); err != nil {
		return set, exit.Usagef("%w", err)
	}
	return set, nil
}

// codec starts the codec server, from which the UI fetches payloads. It starts first, so that wrong keys are found
// before anything else runs.
func (s *Session) codec(ctx context.Context, log *slog.Logger) (archive *client.Archive, endpoint string, err error) {
	archive, err = OpenStore(ctx, s.Place.Store)
	if err != nil {
		return nil, "", err
	}
	s.cleanups = append(s.cleanups, archive.Close)
	endpoint, stop, err := ServeCodec(ctx, "127.0.0.1:0", codecserver.Options{Store: archive.Store()}, func(err error) {
		log.Error("the web UI can read no payloads any more", "error", err)
	})
	if err != nil {
		return nil, "", err
	}
	s.cleanups = append(s.cleanups, stop)
	return archive, endpoint, nil
}

// waitForStore creates the store, or opens the existing one.
func (s *Session) waitForStore(ctx context.Context, unpacker *client.Archive) error {
	err := connect.BeginStore(ctx, s.Temporal(), s.Archive().Store())
	if errors.Is(err, blobs.ErrUnavailable) {
		return exit.Unreachablef("open store: %w", err)
	}
	if err == nil {
		err = unpacker.Store().EnsureID(ctx)
	}
	return err
}

// drainTimeout is how long running Calls and Requests may still take when the program ends. It is short, because a
// person waits.
const drainTimeout = 2 * time.Second

func (s *Session) startWorker(parts engine.Parts) error {
	w, err := engine.NewWorker(s.Temporal(), parts)
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		return fmt.Errorf("start worker: %w", err)
	}
	s.cleanups = append(s.cleanups, w.Stop)
	return nil
}

const (
	logFile     = "worker.log"
	maxLogBytes = 10 << 20 // bytes; a larger log is renamed to .old when the next server starts
)

// LogFile is the path of the log of the worker and of its client.
func (p Place) LogFile() string { return filepath.Join(p.Data, logFile) }

// logTo opens the file that takes the logs of the worker and of its client. If warn is set, warnings also go to the
// terminal.
func (s *Session) logTo(warn bool) (*slog.Logger, error) {
	path := s.Place.LogFile()
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogBytes {
		_ = os.Rename(path, path+".old")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	s.cleanups = append(s.cleanups, func() { _ = f.Close() })
	var to slog.Handler = slog.NewTextHandler(f, nil)
	if warn {
		to = slog.NewMultiHandler(to, slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	log := slog.New(to)
	slog.SetDefault(log) // for what panics, and for libraries
	return log, nil
}
