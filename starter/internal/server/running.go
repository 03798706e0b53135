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

// ServerInfo says how other programs reach the embedded server that runs on the folder. It is stored as server.json
// while the server runs.
type ServerInfo struct {
	Address   string `json:"address"`
	Namespace string `json:"namespace"`
	UIURL     string `json:"ui,omitempty"`
	// GatewayURL is the address of the HTTP API, with its token.
	GatewayURL string `json:"gateway,omitempty"`
	PID        int    `json:"pid"`
	// StorePlace is where the workers of that server keep large values.
	StorePlace string `json:"store"`
	HasWorker  bool   `json:"worker"` // the server's program has a worker too
	HasLLM     bool   `json:"llm"`    // the server's program has an LLM configured
}

// RunningServer reads how to reach the server that runs on the folder. ok is false if there is no such file, or if a
// killed program left it.
func (p Place) RunningServer() (info ServerInfo, ok bool) {
	data, err := os.ReadFile(filepath.Join(p.DataFolder, ServerFile))
	if err != nil || json.Unmarshal(data, &info) != nil || info.PID <= 0 {
		return info, false
	}
	// Signal 0 only asks whether the process exists. EPERM means that it exists and belongs to another user.
	err = syscall.Kill(info.PID, 0)
	return info, err == nil || errors.Is(err, syscall.EPERM)
}

// announceServer writes the file by which other programs find this program's server.
func (p Place) announceServer(info ServerInfo) (withdraw func(), err error) {
	path := filepath.Join(p.DataFolder, ServerFile)
	data, err := json.Marshal(info)
	if err == nil {
		// Rename into place, so that nobody reads half of the file.
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
