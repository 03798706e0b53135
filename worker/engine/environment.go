package engine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"

	"processidea/store/blobs"
	"processidea/store/encryption"
)

// The variables that say where a process keeps what it needs beside Temporal.
const (
	DataVariable  = "PROCESSIDEA_DATA"  // the folder of the embedded server, and of the store by default
	StoreVariable = "PROCESSIDEA_STORE" // the store: a folder, or a bucket's URL
)

const defaultData = ".processidea"

// DataFolder gives the folder for what a process keeps: the one that was asked for, else PROCESSIDEA_DATA, else
// .processidea under the working directory.
func DataFolder(asked string) (string, error) {
	dir, err := filepath.Abs(cmp.Or(asked, os.Getenv(DataVariable), defaultData))
	if err != nil {
		return "", fmt.Errorf("engine: find data folder: %w", err)
	}
	return dir, nil
}

// StorePlace gives the place of the store: PROCESSIDEA_STORE, else store under the data folder. A folder is absolute.
func StorePlace(data string) string {
	return StoreAt(cmp.Or(os.Getenv(StoreVariable), DataStore(data)))
}

// DataStore is the store that lies in a data folder.
func DataStore(data string) string { return filepath.Join(data, "store") }

// StoreAt gives the place of a store that somebody names: a folder, absolute, or a bucket's URL.
func StoreAt(place string) string {
	if dir, err := filepath.Abs(place); err == nil && !strings.Contains(place, "://") {
		return dir
	}
	return place
}

// KeysFromEnvironment reads the keys of PROCESSIDEA_KEYS: none, nil, where it is not set.
func KeysFromEnvironment() (*encryption.Keys, error) {
	return encryption.Parse(os.Getenv(encryption.Variable))
}

// OpenStore opens the store at a place for a worker, with the keys of PROCESSIDEA_KEYS. From then on nobody opens it
// without them: what a worker encrypts, no starter writes in the clear.
func OpenStore(ctx context.Context, place string) (*blobs.Store, error) {
	keys, err := KeysFromEnvironment()
	if err != nil {
		return nil, err
	}
	s, err := blobs.Open(ctx, place, blobs.WithKeys(keys))
	if err != nil {
		return nil, err
	}
	_, err = s.Mark(ctx)
	if err == nil {
		err = s.NoteKeys(ctx)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// TemporalFromEnvironment reads how to reach Temporal from TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, those
// for TLS, and the profiles of a configuration file. set is false where none of them says anything. Empty is unset.
func TemporalFromEnvironment() (o client.Options, set bool, err error) {
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{EnvLookup: filled{}})
	if err == nil {
		set = !reflect.ValueOf(profile).IsZero()
		o, err = profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	}
	if err != nil {
		return o, false, fmt.Errorf("engine: read how to reach Temporal: %w", err)
	}
	o.HostPort = cmp.Or(o.HostPort, client.DefaultHostPort)
	o.Namespace = cmp.Or(o.Namespace, client.DefaultNamespace)
	return o, set, nil
}

// filled looks variables up as the rest of the program does: an empty one is not set.
type filled struct{}

func (filled) Environ() []string { return os.Environ() }

func (filled) LookupEnv(key string) (string, bool) {
	v := os.Getenv(key)
	return v, v != ""
}
