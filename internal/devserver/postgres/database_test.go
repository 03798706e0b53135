package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver

	"processidea/internal/devserver/devtest"
)

// patience is far more than anything here takes to come further.
const patience = 4 * time.Minute

// program finds one of PostgreSQL's, where Debian hides them too.
func program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		t.Skipf("PostgreSQL is not here: there is no %s (on Debian: apt-get install postgresql)", name)
	}
	return found[len(found)-1]
}

// startDatabase runs a PostgreSQL of the test's own, with the user of docker-compose.yml, and gives its port.
func startDatabase(t *testing.T, name string) (port string) {
	t.Helper()
	initdb, postgres := program(t, "initdb"), program(t, "postgres")
	//nolint:usetesting // nobody but this user may look into t.TempDir, and PostgreSQL is run by another
	dir, err := os.MkdirTemp("", "postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	nobody := unprivileged(t, dir)
	port = freePort(t)
	run := exec.CommandContext(t.Context(), initdb, "--auth=trust", "--username="+name, "--no-sync", dir)
	run.SysProcAttr, run.Dir = nobody, "/"
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	start(t, exec.Command(postgres, "-D", dir, "-h", "127.0.0.1", "-p", port, "-k", dir, "-c", "fsync=off",
		"-c", "max_connections=500"), nobody,
		syscall.SIGQUIT)
	await(t, "PostgreSQL answers", func(ctx context.Context) error {
		db, err := sql.Open("postgres",
			fmt.Sprintf("host=127.0.0.1 port=%s user=%s dbname=postgres sslmode=disable", port, name))
		if err != nil {
			return err
		}
		defer db.Close()
		return db.PingContext(ctx)
	})
	return port
}

// unprivileged gives the folder to somebody else, where this is the superuser's process: PostgreSQL refuses to be run
// by him.
func unprivileged(t *testing.T, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			t.Skip("PostgreSQL does not run as root, and there is no other user")
		}
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

// start starts a program that is told to stop when the test is over, and waited for.
func start(t *testing.T, c *exec.Cmd, as *syscall.SysProcAttr, stop syscall.Signal) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr, c.SysProcAttr = log, log, as
	if c.Dir == "" {
		c.Dir = "/"
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(stop)
		_ = c.Wait()
		if said, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s said at last:\n%s", c.Path, lastLines(string(said)))
		}
	})
}

// lastLines is the end of a log, without the stacks that stand at the end of its lines.
func lastLines(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	lines = lines[max(0, len(lines)-20):]
	for n, line := range lines {
		lines[n] = fmt.Sprintf("%.300s", line)
	}
	return strings.Join(lines, "\n")
}

// freePort finds one that fits in a smallint: that is where Temporal's schema for PostgreSQL keeps the ports of its
// members.
func freePort(t *testing.T) string {
	t.Helper()
	return strconv.Itoa(devtest.FreePort(t))
}

// await asks until it works, as long as the answer changes.
func await(t *testing.T, what string, ask func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	over := time.AfterFunc(patience, cancel)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var why error
	for {
		err := ask(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil { // else it says no more than that
			if why == nil || why.Error() != err.Error() {
				over.Reset(patience)
			}
			why = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("it never came to it that %s: %v", what, why)
		case <-tick.C:
		}
	}
}
