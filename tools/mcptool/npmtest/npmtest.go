// Package npmtest installs programs and packages of others from npm, for tests: MCP servers and clients, clients of
// Temporal and of OpenAPI.
package npmtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The packages, in the versions that the tests were written against.
const (
	TemporalClient = "@temporalio/client@1.24.0"

	EverythingServer = "@modelcontextprotocol/server-everything@2026.8.31"
	FilesystemServer = "@modelcontextprotocol/server-filesystem@2026.8.31"
	Inspector        = "@modelcontextprotocol/inspector@2.12.0"

	Redocly = "@redocly/cli@2.77.0"
	// OpenAPIClient is a generator of clients in TypeScript, with its compiler.
	OpenAPIClient = "@hey-api/openapi-ts@0.99.0 typescript@5.9.3 @types/node@20.19.43"
)

// offlinePattern matches npm's errors without a network.
var offlinePattern = regexp.MustCompile(
	`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|network`)

// InstalledCommand returns the command of a server's program, installed into the user's cache. It skips the test only
// if node or the network is missing.
func InstalledCommand(t testing.TB, npmPackage, bin string) []string {
	t.Helper()
	programPath, err := filepath.EvalSymlinks(filepath.Join(InstallModules(t, npmPackage), ".bin", bin))
	if err != nil {
		t.Fatalf("find the program of %s: %v", npmPackage, err)
	}
	return []string{"node", programPath}
}

// InstallModules returns the folder node_modules with a package and its dependencies, for NODE_PATH. It skips the test
// as InstalledCommand does.
func InstallModules(t testing.TB, npmPackage string) string {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not on this machine: nothing is tested against %s", tool, npmPackage)
		}
	}
	return filepath.Join(install(t, npmPackage), "node_modules")
}

// install returns the folder of a package. Tests of several packages may call it at the same time: the first wins.
func install(t testing.TB, npmPackages string) string {
	t.Helper()
	cacheFolder, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	cacheFolder = filepath.Join(cacheFolder, "process-idea", "mcp-servers")
	folder := filepath.Join(cacheFolder, strings.NewReplacer("/", "-", "@", "-", " ", "-").Replace(npmPackages))
	if _, err := os.Stat(folder); err == nil {
		return folder
	}
	if err := os.MkdirAll(cacheFolder, 0o755); err != nil {
		t.Fatal(err)
	}
	//nolint:usetesting // it is renamed, and so lies beside what it becomes
	stagingFolder, err := os.MkdirTemp(cacheFolder, "new")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(stagingFolder) }()
	c := exec.CommandContext(t.Context(), "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
		"--fetch-retries=1", "--prefix", stagingFolder)
	c.Args = append(c.Args, strings.Fields(npmPackages)...)
	c.WaitDelay = time.Second
	if output, err := c.CombinedOutput(); err != nil {
		if offlinePattern.Match(output) {
			t.Skipf("npm has no network: nothing is tested against %s\n%s", npmPackages, output)
		}
		t.Fatalf("install %s: %v\n%s", npmPackages, err, output)
	}
	if err := os.Rename(stagingFolder, folder); err != nil && !errors.Is(err, os.ErrExist) {
		if _, statErr := os.Stat(folder); statErr != nil {
			t.Fatal(err)
		}
	}
	return folder
}
