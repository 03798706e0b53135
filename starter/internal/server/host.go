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

// HostOptions are the options of a server that runs in this program.
type HostOptions struct {
	Port, UIPort int  // 0: any free port, or a usual one for the UI; a negative UI port: no UI
	WithWorker   bool // with a worker
	IsIsolated   bool // the worker reaches nothing but the LLM
	// GatewayPort is the gateway's port; 0 picks a usual one, a negative one disables the gateway.
	GatewayPort int
	// WarnOnTerminal also prints the log's warnings on the terminal.
	WarnOnTerminal bool
	// ReplyRecorder receives what the LLM said; may be nil.
	ReplyRecorder activities.ReplyRecorder
}

// defaultUIPorts are the ports to try, in this order, for a web UI that has no last port.
var defaultUIPorts = []int{8233, 8234, 8235, 8236, 8237, 8238, 8239, 8240, 8241, 8242}

// host runs the embedded server, and a worker if h.WithWorker is set, in this program until the session is closed. The
// caller has locked the folder; unlock releases it.
func (p Place) host(ctx context.Context, unlock func(), h HostOptions) (*Session, error) {
	s := &Session{Place: p, IsEmbedded: true, RunsServer: true, cleanups: []func(){unlock}}
	if err := s.serve(ctx, h); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// HostExclusively runs a server on the folder. It refuses if another program runs one there, and waits for one that is
// stopping.
func (p Place) HostExclusively(ctx context.Context, h HostOptions) (*Session, error) {
	if err := p.makeFolder(); err != nil {
		return nil, err
	}
	const interval = 300 * time.Millisecond
	for wait := time.Duration(0); wait < serverTimeout; wait += interval {
		unlock, ok, err := p.lock()
		if err != nil {
			return nil, exit.Unreachablef("lock %s: %w", p.Dir, err)
		}
		if ok {
			return p.host(ctx, unlock, h)
		}
		if info, ok := p.RunningServer(); ok {
			return nil, exit.Usagef("start server in %s: another program (process %d) runs one there, at %s", p.Dir,
				info.PID, info.Address)
		}
		_ = pause.For(ctx, interval)
	}
	return nil, exit.Usagef("start server in %s: another program has locked the folder", p.Dir)
}

func (s *Session) serve(ctx context.Context, h HostOptions) error {
	// A killed program may have left this file, which names a server that is gone.
	_ = os.Remove(filepath.Join(s.Place.Dir, ServerFile))
	log, err := s.openLog(h.WarnOnTerminal)
	if err != nil {
		return err
	}
	cfg, err := s.readSettings(ctx, h, log)
	if err != nil {
		return err
	}
	codecArchive, codecEndpoint, err := s.startCodec(ctx, log)
	if err != nil {
		return err
	}
	server, err := s.Place.Temporal.Start(ctx, TemporalOptions{
		MemoryLimit: cfg.memoryLimit, Dir: s.Place.Dir, Port: h.Port, UIPort: h.UIPort,
		DefaultUIPorts: s.Place.uiPorts(),
		CodecEndpoint:  codecEndpoint,
	})
	if err != nil {
		return exit.Unreachablef("start server in %s: %w", s.Place.Dir, err)
	}
	s.cleanups = append(s.cleanups, server.Stop)
	s.UIURL = server.UIURL()
	s.Place.saveUIPort(s.UIURL)
	o := sdk.Options{HostPort: server.Address(), Namespace: server.Namespace()}
	if err := s.open(ctx, o, s.Place.StorePlace, log); err != nil {
		return err
	}
	if err := s.initializeStore(ctx, codecArchive); err != nil {
		return err
	}
	cfg.engineParts.Store = s.Archive().Store()
	if h.WithWorker {
		if err := s.startWorker(cfg.engineParts); err != nil {
			return err
		}
	}
	if err := s.serveGateway(ctx, h.GatewayPort, cfg.gateway); err != nil {
		return err
	}
	withdraw, err := s.Place.announce(ServerInfo{
		Address: o.HostPort, Namespace: o.Namespace, UIURL: s.UIURL, GatewayURL: s.GatewayURL, PID: os.Getpid(),
		StorePlace: s.Place.StorePlace, HasWorker: h.WithWorker, HasLLM: cfg.engineParts.LLM.IsConfigured(),
	})
	if err != nil {
		return err
	}
	s.cleanups = append(s.cleanups, withdraw)
	return nil
}

// settings are the settings of the environment for what runs here.
type settings struct {
	engineParts engine.Dependencies // without the store
	memoryLimit int64               // the limit of the whole program; 0: the default
	gateway     gateway.Options
}

// readSettings reads all settings before anything is started with them, and reports all that are wrong.
func (s *Session) readSettings(ctx context.Context, h HostOptions, log *slog.Logger) (cfg settings, err error) {
	var errs []error
	collect := func(err error) { errs = append(errs, err) }
	_, err = client.KeysFromEnvironment()
	collect(err)
	cfg.engineParts = engine.Dependencies{Log: log, ReplyRecorder: h.ReplyRecorder, StopTimeout: drainTimeout}
	if h.IsIsolated { // a second safeguard: simulated Calls have no runner anyway
		cfg.engineParts.HTTP, cfg.engineParts.MCP = httptool.New(httptool.Options{}), mcptool.New(mcptool.Options{})
	}
	cfg.engineParts = cfg.engineParts.With(s.Place.Additions)
	if h.WithWorker {
		cfg.engineParts, err = cfg.engineParts.FillAndCheck()
		collect(err)
	}
	cfg.engineParts.Limits, err = engine.EmbeddedLimitsFromEnv(os.Getenv)
	collect(err)
	cfg.memoryLimit, err = heap.BytesFromEnv(os.Getenv, heap.LimitEnvVariable)
	collect(err)
	if h.GatewayPort >= 0 {
		cfg.gateway.Log = log
		cfg.gateway.Hooks, err = gateway.HooksFromEnvironment(os.Getenv)
		collect(errors.Join(err, gateway.CheckAgentSettings(os.Getenv)))
		if cfg.gateway.DeciderKeys = cfg.engineParts.DeciderKeys; !h.WithWorker {
			cfg.gateway.DeciderKeys, err = signing.FromEnvironment(ctx, os.Getenv)
			collect(err)
		}
	}
	if err = flags.JoinSettingErrors(errs...); err != nil {
		return cfg, exit.Usagef("%w", err)
	}
	return cfg, nil
}

// startCodec starts the codec server, from which the UI fetches payloads. It starts first, so that wrong keys are found
// before anything else runs.
func (s *Session) startCodec(ctx context.Context,
	log *slog.Logger) (archive *client.Archive, endpoint string, err error) {
	archive, err = OpenArchive(ctx, s.Place.StorePlace)
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

// initializeStore creates the store, or opens the existing one.
func (s *Session) initializeStore(ctx context.Context, codecArchive *client.Archive) error {
	err := connect.InitializeStore(ctx, s.Temporal(), s.Archive().Store())
	if errors.Is(err, blobs.ErrUnavailable) {
		return exit.Unreachablef("open store: %w", err)
	}
	if err == nil {
		err = codecArchive.Store().EnsureID(ctx)
	}
	return err
}

// drainTimeout is how long running Calls and Requests may still take when the program ends. It is short, because a
// person waits.
const drainTimeout = 2 * time.Second

func (s *Session) startWorker(parts engine.Dependencies) error {
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
	logFileName = "worker.log"
	maxLogBytes = 10 << 20 // bytes; a larger log is renamed to .old when the next server starts
)

// LogPath is the path of the log of the worker and of its client.
func (p Place) LogPath() string { return filepath.Join(p.Dir, logFileName) }

// openLog opens the file that takes the logs of the worker and of its client. If warnOnTerminal is set, warnings also
// go to the terminal.
func (s *Session) openLog(warnOnTerminal bool) (*slog.Logger, error) {
	path := s.Place.LogPath()
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogBytes {
		_ = os.Rename(path, path+".old")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	s.cleanups = append(s.cleanups, func() { _ = f.Close() })
	var sink slog.Handler = slog.NewTextHandler(f, nil)
	if warnOnTerminal {
		sink = slog.NewMultiHandler(sink, slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	log := slog.New(sink)
	slog.SetDefault(log) // for what panics, and for libraries
	return log, nil
}
