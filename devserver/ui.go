package devserver

import (
	"context"
	"fmt"
	"net/http"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"
)

// runUI serves the web UI and returns when it answers.
func runUI(ctx context.Context, port int, frontend string, o Options) (stop func(), err error) {
	// Its Start ends the program when the port is taken, and half a second has gone by since the
	// ports were chosen.
	if err := checkFree(port); err != nil {
		return nil, err
	}
	ui := uiserver.NewServer(uioptions.WithConfigProvider(uiConfig(port, frontend, o)))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = ui.Start() // it returns no error but the one of being stopped, which it drops
	}()
	stop = func() {
		ui.Stop()
		<-ended
	}
	if err := await(ctx, func() error { return healthy(ctx, port) }); err != nil {
		stop()
		return nil, fmt.Errorf("devserver: start UI on port %d: %w", port, err)
	}
	return stop, nil
}

func uiConfig(port int, frontend string, o Options) *uiconfig.Config {
	return &uiconfig.Config{
		TemporalGRPCAddress: frontend,
		Host:                host,
		Port:                port,
		EnableUI:            true,
		DefaultNamespace:    o.Namespace,
		Codec:               uiconfig.Codec{Endpoint: o.CodecEndpoint},
		// It logs every request, and its own address, to the standard output otherwise.
		HideLogs: true,
		// The browser of someone who works here tells nobody about it.
		DisableNewsFetch: true,
		// Plain HTTP on loopback: with a cookie for HTTPS alone, every button would be refused.
		CORS: uiconfig.CORS{CookieInsecure: true},
	}
}

func healthy(ctx context.Context, port int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+loopback(port)+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", resp.Status)
	}
	return nil
}
