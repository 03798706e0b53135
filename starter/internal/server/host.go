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
	TemporalPort, UIPort int  // 0: any free port, or a usual one for the UI; a negative UI port: no UI
	RunsWorker           bool // with a worker
	IsWorkerIsolated     bool // the worker reaches nothing but the LLM
	// GatewayPort is the gateway's port; 0 picks a usual one, a negative one disables the gateway.
	GatewayPort int
	// WarnOnTerminal also prints the log's warnings on the terminal.
	WarnOnTerminal bool
	// ReplyRecorder receives what the LLM said; may be nil.
	ReplyRecorder activities.ReplyRecorder
}

// defaultUIPorts are the ports to try, in this order, for a web UI that has no last port.
var defaultUIPorts = []int{8233, 8234, 8235, 8236, 8237, 8238, 8239, 8240, 8241, 8242}

// hostServer runs the embedded server, and a worker if h.RunsWorker is set, in this program until the session is
// closed. The caller has locked the folder; unlock releases it.
func (p Place) hostServer(ctx context.Context, unlock func(), h HostOptions) (*Session, error) {
	s := &Session{Place: p, IsEmbedded: true, RunsServer: true, cleanups: []func(){unlock}}
	if err := s.serve(ctx, h); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// HostServerExclusively runs a server on the folder. It refuses if another program runs one there, and waits for one
// that is stopping.
func (p Place) HostServerExclusively(ctx context.Context, h HostOptions) (*Session, error) {
	if err := p.makeDataFolder(); err != nil {
		return nil, err
	}
	const retryInterval = 300 * time.Millisecond
	for waited := time.Duration(0); waited < otherProgramTimeout; waited += retryInterval {
		unlock, ok, err := p.lockFolder()
		if err != nil {
			return nil, exit.Unreachablef("lock %s: %w", p.DataFolder, err)
		}
		if ok {
			return p.hostServer(ctx, unlock, h)
		}
		if info, ok := p.RunningServer(); ok {
			return nil, exit.Usagef("start server in %s: another program (process %d) runs one there, at %s",
				p.DataFolder,
				info.PID, info.Address)
		}
		_ = pause.For(ctx, retryInterval)
	}
	return nil, exit.Usagef("start server in %s: another program has locked the folder", p.DataFolder)
}

func (s *Session) serve(ctx context.Context, h HostOptions) error {
	// A killed program may have left this file, which names a server that is gone.
	_ = os.Remove(filepath.Join(s.Place.DataFolder, ServerFile))
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
	server, err := s.Place.TemporalHost.Start(ctx, TemporalOptions{
		ProgramMemoryLimitBytes: cfg.memoryLimitBytes, DataFolder: s.Place.DataFolder,
		Port: h.TemporalPort, UIPort: h.UIPort, DefaultUIPorts: s.Place.candidateUIPorts(),
		CodecEndpoint: codecEndpoint,
	})
	if err != nil {
		return exit.Unreachablef("start server in %s: %w", s.Place.DataFolder, err)
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
	cfg.engineDependencies.Store = s.Archive().Store()
	if h.RunsWorker {
		if err := s.startWorker(cfg.engineDependencies); err != nil {
			return err
		}
	}
	if err := s.serveGateway(ctx, h.GatewayPort, cfg.gateway); err != nil {
		return err
	}
	withdraw, err := s.Place.announceServer(ServerInfo{
		Address: o.HostPort, Namespace: o.Namespace, UIURL: s.UIURL, GatewayURL: s.GatewayURL, PID: os.Getpid(),
		StorePlace: s.Place.StorePlace, HasWorker: h.RunsWorker, HasLLM: cfg.engineDependencies.LLM.IsConfigured(),
	})
	if err != nil {
		return err
	}
	s.cleanups = append(s.cleanups, withdraw)
	return nil
}

// hostSettings are the settings of the environment for what runs here.
type hostSettings struct {
	engineDependencies engine.Dependencies // without the store
	memoryLimitBytes   int64               // the limit of the whole program; 0: the default
	gateway            gateway.Options
}

// readSettings reads all settings before anything is started with them, and reports all that are wrong.
func (s *Session) readSettings(ctx context.Context, h HostOptions, log *slog.Logger) (cfg hostSettings, err error) {
	var errs []error
	collect := func(err error) { errs = append(errs, err) }
	_, err = client.KeysFromEnvironment()
	collect(err)
	cfg.engineDependencies = engine.Dependencies{Log: log, ReplyRecorder: h.ReplyRecorder, StopTimeout: drainTimeout}
	if h.IsWorkerIsolated { // a second safeguard: simulated Calls have no runner anyway
		cfg.engineDependencies.HTTP, cfg.engineDependencies.MCP = httptool.New(httptool.Options{}),
			mcptool.New(mcptool.Options{})
	}
	cfg.engineDependencies = cfg.engineDependencies.With(s.Place.Additions)
	if h.RunsWorker {
		cfg.engineDependencies, err = cfg.engineDependencies.FillAndCheck()
		collect(err)
	}
	cfg.engineDependencies.Limits, err = engine.EmbeddedLimitsFromEnv(os.Getenv)
	collect(err)
	cfg.memoryLimitBytes, err = heap.BytesFromEnv(os.Getenv, heap.LimitEnvVariable)
	collect(err)
	if h.GatewayPort >= 0 {
		cfg.gateway.Log = log
		cfg.gateway.Hooks, err = gateway.HooksFromEnvironment(os.Getenv)
		collect(errors.Join(err, gateway.CheckAgentSettings(os.Getenv)))
		if cfg.gateway.DeciderKeys = cfg.engineDependencies.DeciderKeys; !h.RunsWorker {
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

func (s *Session) startWorker(dependencies engine.Dependencies) error {
	w, err := engine.NewWorker(s.Temporal(), dependencies)
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
func (p Place) LogPath() string { return filepath.Join(p.DataFolder, logFileName) }

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
	var logHandler slog.Handler = slog.NewTextHandler(f, nil)
	if warnOnTerminal {
		logHandler = slog.NewMultiHandler(logHandler, slog.NewTextHandler(os.Stderr,
			&slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	log := slog.New(logHandler)
	slog.SetDefault(log) // for what panics, and for libraries
	return log, nil
}
