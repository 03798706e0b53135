package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ServerFile is the file in the data folder that describes the running server.
const ServerFile = "server.json"

// Running is how other programs reach the embedded server that runs on the folder. It lies there as server.json while
// the server runs.
type Running struct {
	Address   string `json:"address"`
	Namespace string `json:"namespace"`
	UI        string `json:"ui,omitempty"`
	// Gateway is the address of the HTTP API, with its token.
	Gateway string `json:"gateway,omitempty"`
	PID     int    `json:"pid"`
	// Store is where the workers of that server keep large values.
	Store  string `json:"store"`
	Worker bool   `json:"worker"` // the program has a worker too
	LLM    bool   `json:"llm"`    // which has an LLM to ask
}

// RunningServer reads how to reach the server that runs on the folder; ok is false where the file was left by a killed
// program.
func (p Place) RunningServer() (n Running, ok bool) {
	data, err := os.ReadFile(filepath.Join(p.Data, ServerFile))
	if err != nil || json.Unmarshal(data, &n) != nil || n.PID <= 0 {
		return n, false
	}
	// Signal 0 asks whether the process exists; EPERM means that it does, and belongs to another user.
	err = syscall.Kill(n.PID, 0)
	return n, err == nil || errors.Is(err, syscall.EPERM)
}

// announce lets other programs find the server of this one.
func (p Place) announce(n Running) (withdraw func(), err error) {
	path := filepath.Join(p.Data, ServerFile)
	data, err := json.Marshal(n)
	if err == nil {
		// It is renamed into place, so that nobody reads half of it.
		err = os.WriteFile(path+".new", append(data, '\n'), 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return nil, fmt.Errorf("announce server: %w", err)
	}
	return func() { _ = os.Remove(path) }, nil
}
