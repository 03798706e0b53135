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

// uiHome is what the file holds.
type uiHome struct {
	Port int `json:"port"`
}

// uiPorts lists the ports to try: the last one, then the usual ones.
func (p Place) uiPorts() []int {
	var home uiHome
	data, err := os.ReadFile(filepath.Join(p.Data, uiFile))
	if err != nil || json.Unmarshal(data, &home) != nil || home.Port <= 0 {
		return defaultUIPorts
	}
	return append([]int{home.Port}, defaultUIPorts...)
}

// keepUIPort stores the UI's port. If that fails, the next UI may have another port.
func (p Place) keepUIPort(ui string) {
	at, err := url.Parse(ui)
	if err != nil {
		return
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil { // there is no UI
		return
	}
	data, err := json.Marshal(uiHome{port})
	if err == nil {
		_ = os.WriteFile(filepath.Join(p.Data, uiFile), append(data, '\n'), 0o600)
	}
}
