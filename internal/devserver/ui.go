package devserver

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/labstack/echo/v4"
	uiserver "github.com/temporalio/ui-server/v2/server"
	uiapi "github.com/temporalio/ui-server/v2/server/api"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	uioptions "github.com/temporalio/ui-server/v2/server/server_options"

	"processidea/internal/safego"
)

// runUI serves the web UI and returns when it answers.
func runUI(ctx context.Context, port int, frontendAddress string, o Options) (stop func(), err error) {
	// ui.Start ends the program when the port is taken. The ports were chosen half a second ago: check again.
	if err := checkPortFree(port); err != nil {
		return nil, err
	}
	ui := uiserver.NewServer(uioptions.WithConfigProvider(uiConfig(port, frontendAddress, o)),
		uioptions.WithAPIMiddleware([]uiapi.Middleware{refuseForeignHosts}))
	var uiErr error // set when ended is closed
	uiDone := make(chan struct{})
	startCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	// ui.Start returns nil when it is stopped, and ends the program on any error.
	safego.Go("devserver.ui", ui.Start, func(err error) {
		uiErr = err
		close(uiDone)
		cancel()
	})
	stop = func() {
		ui.Stop()
		<-uiDone
	}
	if err := retryUntilReady(startCtx, func() error { return checkUIHealth(ctx, port) }); err != nil {
		stop()
		return nil, fmt.Errorf("devserver: start UI on port %d: %w", port, cmp.Or(uiErr, err))
	}
	return stop, nil
}

func uiConfig(port int, frontendAddress string, o Options) *uiconfig.Config {
	return &uiconfig.Config{
		TemporalGRPCAddress: frontendAddress,
		Host:                loopbackIP,
		Port:                port,
		EnableUI:            true,
		DefaultNamespace:    namespace,
		Codec:               uiconfig.Codec{Endpoint: o.CodecEndpoint},
		// Otherwise the UI logs every request, and its own address, to standard output.
		HideLogs: true,
		// The UI must not make the user's browser call other servers.
		DisableNewsFetch: true,
		// On plain HTTP the browser would drop a cookie that is marked for HTTPS, and the UI would refuse every action.
		CORS: uiconfig.CORS{CookieInsecure: true},
	}
}

// refuseForeignHosts makes the API answer only if the request's host is a name of this machine. Otherwise a foreign
// page whose host name resolves to this machine (DNS rebinding) would have the same origin for a browser. The UI itself
// refuses other requests from foreign pages.
func refuseForeignHosts(c echo.Context) runtime.ServeMuxOption {
	host := c.Request().Host
	return runtime.WithMiddlewares(func(next runtime.HandlerFunc) runtime.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request, params map[string]string) {
			if !isLocalName(host) {
				http.Error(w, "this machine's UI is called by no such name", http.StatusMisdirectedRequest)
				return
			}
			next(w, r, params)
		}
	})
}

func isLocalName(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

func checkUIHealth(ctx context.Context, port int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+loopbackAddress(port)+"/healthz", nil)
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
