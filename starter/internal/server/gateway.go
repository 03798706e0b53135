package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"processidea/gateway/access"
	gateway "processidea/gateway/server"
	"processidea/store/signing"
)

// gatewayFile keeps the token and the port of the folder's gateway, so that its address stays the same.
const gatewayFile = "gateway.json"

// savedGatewaySettings is what the file holds.
type savedGatewaySettings struct {
	Token string `json:"token"`
	Port  int    `json:"port"`
}

// defaultGatewayPorts are the ports to try for a gateway that has no last port.
var defaultGatewayPorts = []int{8300, 8301, 8302, 8303, 8304, 8305, 8306, 8307, 8308, 8309, 0}

// serveGateway serves the HTTP API to clients on this machine that have the folder's token.
func (s *Session) serveGateway(ctx context.Context, port int, o gateway.Options) error {
	if port < 0 {
		return nil
	}
	path := filepath.Join(s.Place.DataFolder, gatewayFile)
	var state savedGatewaySettings
	if data, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(data, &state)
	}
	if state.Token == "" {
		state.Token = access.NewToken()
	}
	guard, err := access.NewTokenGuard(state.Token, s.gatewayUser())
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	o.Client, o.Guard, o.Agents = s.Client, guard, gateway.AgentOptionsFromEnvironment(os.Getenv)
	o.Agents.Tools, o.Simulate = s.Place.Tools(), s.Place.serialSimulator()
	runningGateway, err := listenOnFirstFreePort(ctx, candidateGatewayPorts(port, state.Port), o)
	if err != nil {
		return err
	}
	s.cleanups = append(s.cleanups, runningGateway.Stop)
	_, portText, _ := net.SplitHostPort(runningGateway.Address)
	if state.Port, err = strconv.Atoi(portText); err != nil {
		return err
	}
	s.GatewayURL = "http://" + runningGateway.Address + "/?token=" + state.Token
	data, err := json.Marshal(state)
	if err == nil {
		err = os.WriteFile(path, append(data, '\n'), 0o600)
	}
	return err
}

// candidateGatewayPorts lists the ports to try: only the asked one if there is one, otherwise the last one and the
// usual ones.
func candidateGatewayPorts(requestedPort, previousPort int) []int {
	if requestedPort > 0 {
		return []int{requestedPort}
	}
	if previousPort > 0 {
		return append([]int{previousPort}, defaultGatewayPorts...)
	}
	return defaultGatewayPorts
}

func listenOnFirstFreePort(ctx context.Context, ports []int,
	o gateway.Options) (runningGateway *gateway.RunningGateway, err error) {
	for _, port := range ports {
		runningGateway, err = gateway.Listen(ctx, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), o)
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return runningGateway, err
}

// gatewayUser is the person behind the token: the user who runs this program. If PROCESSIDEA_KEY is set, the person
// signs with its key.
func (s *Session) gatewayUser() access.Person {
	person := gateway.SystemUser(os.Getenv)
	keyPath := os.Getenv(signing.PrivateKeyVariable)
	if keyPath == "" {
		return person
	}
	signingKey, err := signing.LoadPrivateKey(keyPath)
	if err != nil {
		s.Place.Note("decisions over HTTP are not signed: %s", err)
		return person
	}
	if name := signingKey.Person(); name != "" {
		person.Name, person.Groups, person.Signer = name, signingKey.Groups, signingKey
	}
	return person
}
