package devserver

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/testing/freeport"
)

// Options configure where the server keeps its data and on which ports it listens.
type Options struct {
	// Dir is the folder of the database file temporal.db. It is created if missing. Two servers cannot share it.
	Dir string
	// Port of the gRPC frontend on 127.0.0.1; 0: a free one.
	Port int
	// UIPort of the web UI on 127.0.0.1; 0: one of DefaultUIPorts that is free, else any free one; negative: no UI.
	UIPort int
	// DefaultUIPorts are tried in this order, so that the UI usually keeps its address.
	DefaultUIPorts []int
	// SearchAttributes are registered in the namespace before Start returns. It is an error if one exists with another
	// type.
	SearchAttributes map[string]enumspb.IndexedValueType
	// CodecEndpoint is the URL of the codec server that the UI decodes payloads with; may be empty.
	CodecEndpoint string
	// MemoryLimit is a soft limit for the memory of Go in this program, in bytes, kept by package heap; 0: 256 MB, or
	// less in a smaller container. GOMEMLIMIT takes precedence.
	MemoryLimit int64
	// Logger takes the server's logs; nil: they are dropped.
	Logger *slog.Logger
}

// Server is a running Temporal server, with its UI if it was asked for.
type Server struct {
	address  string
	uiURL    string
	cleanups []func() // what Stop does, last first
	stopOnce sync.Once
}

// Start runs a server. It returns when the frontend answers, the namespace exists and the search attributes can be
// used. ctx bounds only the start. After an error the folder is unlocked.
func Start(ctx context.Context, o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	tuneRuntime(o.MemoryLimit)
	s := &Server{}
	if err := s.start(ctx, o); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// Address is where the gRPC frontend listens, as host:port.
func (s *Server) Address() string { return s.address }

// UIURL is where the web UI is served, such as http://127.0.0.1:8233; "" without UI.
func (s *Server) UIURL() string { return s.uiURL }

// Namespace is the name of the server's namespace.
func (s *Server) Namespace() string { return namespace }

// Stop ends the UI and the server and returns when both are down, about a second later. Every call waits for that; only
// the first one does it.
func (s *Server) Stop() {
	s.stopOnce.Do(func() {
		for _, cleanup := range slices.Backward(s.cleanups) {
			cleanup()
		}
	})
}

// start starts everything, from the folder's lock to the UI. If it fails, Stop ends what has started.
func (s *Server) start(ctx context.Context, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	unlock, err := lockFolder(o.Dir)
	if err != nil {
		return err
	}
	s.cleanups = append(s.cleanups, unlock)
	// All ports are checked before anything starts, so that a port in use is found at once.
	ports, err := choosePorts(o)
	if err != nil {
		return err
	}
	db, err := openDatabase(o.Dir)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("devserver: start server: %w", err)
	}
	stop, err := runTemporal(staticConfig(db, ports), o.Logger)
	if err != nil {
		return err
	}
	s.cleanups = append(s.cleanups, stop)
	s.address = loopbackAddress(ports.frontend)
	if err := setUpNamespace(ctx, s.address, o); err != nil {
		return err
	}
	if o.UIPort < 0 {
		return nil
	}
	if o.UIPort == 0 && checkPortFree(ports.ui) != nil {
		ports.ui = freeport.MustGetFreePort() // another program took the port first
	}
	stop, err = runUI(ctx, ports.ui, s.address, o)
	if err != nil {
		return err
	}
	s.cleanups = append(s.cleanups, stop)
	s.uiURL = "http://" + loopbackAddress(ports.ui)
	return nil
}
