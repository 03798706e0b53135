package server

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
)

// uiFile keeps the port of the folder's web UI, so that its address stays the same: bookmarks and links to processes
// keep working.
const uiFile = "ui.json"

// savedUISettings is what the file holds.
type savedUISettings struct {
	Port int `json:"port"`
}

// candidateUIPorts lists the ports to try: the last one, then the usual ones.
func (p Place) candidateUIPorts() []int {
	var state savedUISettings
	data, err := os.ReadFile(filepath.Join(p.DataFolder, uiFile))
	if err != nil || json.Unmarshal(data, &state) != nil || state.Port <= 0 {
		return defaultUIPorts
	}
	return append([]int{state.Port}, defaultUIPorts...)
}

// saveUIPort stores the UI's port. If that fails, the next UI may have another port.
func (p Place) saveUIPort(uiURL string) {
	parsedURL, err := url.Parse(uiURL)
	if err != nil {
		return
	}
	port, err := strconv.Atoi(parsedURL.Port())
	if err != nil { // there is no UI
		return
	}
	data, err := json.Marshal(savedUISettings{port})
	if err == nil {
		_ = os.WriteFile(filepath.Join(p.DataFolder, uiFile), append(data, '\n'), 0o600)
	}
}
