package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"

	sdk "go.temporal.io/sdk/client"

	"processidea/client"
)

// Session is an open connection to Temporal and to the store.
type Session struct {
	*client.Client
	Place      Place
	UIURL      string // the address of the embedded server's web UI; may be empty
	GatewayURL string // the address of this program's gateway, with its token; may be empty
	IsEmbedded bool   // the server is embedded, in this program or in another
	RunsServer bool   // the server runs in this program
	cleanups   []func()
}

// Close releases everything that the session opened, in reverse order.
func (s *Session) Close() {
	for _, cleanup := range slices.Backward(s.cleanups) {
		cleanup()
	}
	s.cleanups = nil
}

// dialRemote opens a session with the remote server.
func (p Place) dialRemote(ctx context.Context) (*Session, error) {
	if p.remoteConfigErr != nil {
		return nil, p.remoteConfigErr
	}
	s := &Session{Place: p}
	return s, s.open(ctx, *p.RemoteTemporal, p.StorePlace, nil)
}

// joinRunningServer opens a session with the server that another program runs on the folder.
func (p Place) joinRunningServer(ctx context.Context) (*Session, error) {
	info, ok := p.RunningServer()
	if !ok {
		return nil, p.noServerError()
	}
	s := &Session{Place: p, UIURL: info.UIURL, IsEmbedded: true}
	return s, s.open(ctx, sdk.Options{HostPort: info.Address, Namespace: info.Namespace}, info.StorePlace, nil)
}

// open connects to the store and the server.
func (s *Session) open(ctx context.Context, temporal sdk.Options, storePlace string, log *slog.Logger) error {
	keys, err := client.KeysFromEnvironment()
	if err != nil {
		return err
	}
	s.Client, err = client.Dial(ctx, client.Options{
		Temporal: temporal, StorePlace: storePlace, Keys: keys, Logger: log, PollsFrequently: s.IsEmbedded,
		OnNoWorker: func(processID string, cause error) {
			s.Place.Note("no worker answers for %s; it takes effect when a worker runs: %s", processID, cause)
		},
	})
	if err == nil {
		s.cleanups = append(s.cleanups, s.Client.Close)
	}
	return err
}

// ProcessUIAddress is the address of a process in the web UI; empty without a web UI.
func (s *Session) ProcessUIAddress(processID string) string {
	if s.UIURL == "" {
		return ""
	}
	return fmt.Sprintf("%s/namespaces/%s/workflows/%s", s.UIURL, s.Namespace(), url.PathEscape(processID))
}
