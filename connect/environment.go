package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/encryption"
)

// These variables name the places that a process uses beside Temporal.
const (
	DataVariable  = "PROCESSIDEA_DATA"  // the folder of the embedded server, and of the store by default
	StoreVariable = "PROCESSIDEA_STORE" // the store: a folder, or a bucket's URL
)

const defaultDataFolder = ".processidea"

// DataFolder returns the folder for the data of processes: asked, else PROCESSIDEA_DATA, else .processidea under the
// working directory.
func DataFolder(explicitFolder string) (string, error) {
	dir, err := filepath.Abs(cmp.Or(explicitFolder, os.Getenv(DataVariable), defaultDataFolder))
	if err != nil {
		return "", fmt.Errorf("connect: find data folder: %w", err)
	}
	return dir, nil
}

// StorePathOrURL returns the place of the store: PROCESSIDEA_STORE, else store under the data folder. A folder is
// absolute.
func StorePathOrURL(dataFolder string) string {
	return AbsoluteStorePathOrURL(cmp.Or(os.Getenv(StoreVariable), DefaultStoreFolder(dataFolder)))
}

// DefaultStoreFolder returns the place of the store in a data folder.
func DefaultStoreFolder(dataFolder string) string { return filepath.Join(dataFolder, "store") }

// AbsoluteStorePathOrURL makes a store's folder absolute, and returns a bucket's URL as it is.
func AbsoluteStorePathOrURL(pathOrURL string) string {
	if dir, err := filepath.Abs(pathOrURL); err == nil && !strings.Contains(pathOrURL, "://") {
		return dir
	}
	return pathOrURL
}

// KeysFromEnvironment reads the keys from PROCESSIDEA_KEYS; it returns nil if the variable is not set.
func KeysFromEnvironment() (*encryption.Keys, error) {
	return encryption.Parse(os.Getenv(encryption.KeysVariable))
}

// OpenStore opens the store at a place for a worker, with the keys of PROCESSIDEA_KEYS. The worker must call
// InitializeStore before it uses the store.
func OpenStore(ctx context.Context, pathOrURL string, options ...blobs.Option) (*blobs.Store, error) {
	keys, err := KeysFromEnvironment()
	if err != nil {
		return nil, err
	}
	s, err := blobs.Open(ctx, pathOrURL, append(options, blobs.WithKeys(keys))...)
	if err != nil {
		return nil, err
	}
	isUnused, err := s.IsUnused()
	if err == nil && !isUnused {
		err = recordStoreIdentity(ctx, s)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// InitializeStore makes sure that a store exists, or begins one. From then on nobody can open it without its keys, so
// that no starter writes in the clear what a worker encrypts. The error wraps blobs.ErrUnavailable if the store's
// folder is empty although Temporal knows processes.
func InitializeStore(ctx context.Context, c client.Client, s *blobs.Store) error {
	isUnused, err := s.IsUnused()
	if isUnused && err == nil {
		err = checkNoProcesses(ctx, c, s.PathOrURL())
	}
	if err != nil {
		return err
	}
	return recordStoreIdentity(ctx, s)
}

func recordStoreIdentity(ctx context.Context, s *blobs.Store) error {
	if err := s.EnsureID(ctx); err != nil {
		return err
	}
	return s.RecordPrimaryKeyInUse(ctx)
}

// checkNoProcesses returns an error if Temporal knows processes: their Ideas must be in another store.
func checkNoProcesses(ctx context.Context, c client.Client, storePathOrURL string) error {
	countResponse, err := c.CountWorkflow(ctx,
		&workflowservice.CountWorkflowExecutionsRequest{Query: "WorkflowType = '" + protocol.ProcessType + "'"})
	var denied *serviceerror.PermissionDenied
	var unimplemented *serviceerror.Unimplemented
	switch {
	case errors.As(err, &denied), errors.As(err, &unimplemented): // without permission to count, assume an empty server
		return nil
	case err != nil:
		return fmt.Errorf("connect: begin a store at %s: count the processes that Temporal knows: %w", storePathOrURL,
			err)
	case countResponse.GetCount() == 0:
		return nil
	}
	return fmt.Errorf(
		"%w: %s is empty, but Temporal knows %d processes, whose Ideas lie in a store (is a disk not mounted?); "+
			"if that store is lost, put an empty file process-idea-store into the folder to begin a new one",
		blobs.ErrUnavailable, storePathOrURL,
		countResponse.GetCount())
}

// TemporalOptionsFromEnvironment reads how to reach Temporal from TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE,
// TEMPORAL_API_KEY, the variables for TLS, and the profiles of a configuration file. isSet is false if none of them has
// a value. An empty variable counts as unset.
func TemporalOptionsFromEnvironment() (o client.Options, isSet bool, err error) {
	// The library takes any other value for unset, and the program would connect without TLS.
	var errs []error
	for _, name := range []string{"TEMPORAL_TLS", "TEMPORAL_TLS_DISABLE_HOST_VERIFICATION"} {
		switch text := os.Getenv(name); strings.ToLower(text) {
		case "", "0", "1", "false", "true":
		default:
			errs = append(errs, fmt.Errorf("connect: read how to reach Temporal: %s is %q; want true or false",
				name, text))
		}
	}
	// The library takes a missing file for an empty one, and the program would connect to the wrong server.
	if file := os.Getenv("TEMPORAL_CONFIG_FILE"); file != "" {
		if _, err := os.Stat(file); err != nil {
			errs = append(errs, fmt.Errorf("connect: read how to reach Temporal: TEMPORAL_CONFIG_FILE: %w", err))
		}
	}
	if len(errs) > 0 {
		return o, false, errors.Join(errs...)
	}
	profile, err := envconfig.LoadClientConfigProfile(
		envconfig.LoadClientConfigProfileOptions{EnvLookup: nonEmptyEnv{}})
	if err == nil {
		isSet = !reflect.ValueOf(profile).IsZero()
		o, err = profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	}
	if err != nil {
		return o, false, fmt.Errorf("connect: read how to reach Temporal: %w", err)
	}
	o.HostPort = cmp.Or(o.HostPort, client.DefaultHostPort)
	// An address with a resolver's scheme, such as dns:///host:port, is left to gRPC.
	_, _, err = net.SplitHostPort(o.HostPort)
	if (err != nil || strings.HasPrefix(o.HostPort, "http")) && !strings.Contains(o.HostPort, ":///") {
		return o, false, fmt.Errorf("connect: read how to reach Temporal: the address %q: want host:port, such as %s",
			o.HostPort, client.DefaultHostPort)
	}
	o.Namespace = cmp.Or(o.Namespace, client.DefaultNamespace)
	return o, isSet, nil
}

// nonEmptyEnv treats an empty variable as unset, like the rest of the program.
type nonEmptyEnv struct{}

func (nonEmptyEnv) Environ() []string { return os.Environ() }

func (nonEmptyEnv) LookupEnv(key string) (string, bool) {
	v := os.Getenv(key)
	return v, v != ""
}
