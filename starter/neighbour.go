package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const neighbourFile = "server.json"

// neighbour is how other programs reach the server that one of them runs on the folder. It lies there as server.json
// while the server runs.
type neighbour struct {
	Address   string `json:"address"`
	Namespace string `json:"namespace"`
	UI        string `json:"ui,omitempty"`
	PID       int    `json:"pid"`
	// Store is where that server's worker keeps large values; Worker says that it has one, and LLM that the worker has
	// an LLM to ask.
	Store  string `json:"store"`
	Worker bool   `json:"worker"`
	LLM    bool   `json:"llm"`
}

// neighbour reads how to reach the server that runs on the folder. A file that a killed program left is none.
func (p place) neighbour() (n neighbour, ok bool) {
	data, err := os.ReadFile(filepath.Join(p.data, neighbourFile))
	if err != nil || json.Unmarshal(data, &n) != nil || n.PID <= 0 {
		return n, false
	}
	// Signal 0 asks whether there is such a program; one of somebody else's may not be asked, and is there.
	err = syscall.Kill(n.PID, 0)
	return n, err == nil || errors.Is(err, syscall.EPERM)
}

// announce lets other programs find the server of this one.
func (p place) announce(n neighbour) (withdraw func(), err error) {
	path := filepath.Join(p.data, neighbourFile)
	data, err := json.Marshal(n)
	if err == nil {
		// Renamed into place, so that nobody reads half of it.
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
