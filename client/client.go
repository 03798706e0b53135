package client

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	sdk "go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"processidea/client/internal/kind"
	"processidea/connect"
	"processidea/model/ideafile/shown"
	"processidea/store/blobs"
	"processidea/store/encryption"
)

// Options say how to reach Temporal and the store.
type Options struct {
	// Temporal says how to reach the server: address, namespace, credentials, TLS. Dial adds the data converter and the
	// external storage. Empty fields take the SDK's defaults: localhost:7233, namespace default.
	Temporal sdk.Options
	// StorePlace is the store of the workers: a folder, or a bucket's URL such as s3://bucket?region=eu-central-1.
	StorePlace string
	// Keys encrypt and decrypt, and must be the keys of the workers; nil: nothing is encrypted.
	Keys *encryption.Keys
	// Logger receives what the Temporal SDK logs; nil: nothing is logged.
	Logger *slog.Logger
	// OnNoWorker is called once for a signal that no worker handles for a while: it takes effect when a worker runs. It
	// may be nil.
	OnNoWorker func(process string, cause error)
	// PollsFrequently makes Events query a process several times a second. It is for a server that bills nothing and
	// has few clients, such as the embedded one. Otherwise Events polls the workflow's description, and queries it only
	// when something has happened, at most sixty times an hour.
	PollsFrequently bool
}

// FromEnvironment reads Options as the worker and starter do: from TEMPORAL_ADDRESS and related variables or a profile
// of Temporal's configuration file, PROCESSIDEA_STORE (or store under PROCESSIDEA_DATA) and PROCESSIDEA_KEYS.
func FromEnvironment() (Options, error) {
	temporal, _, err := connect.TemporalOptionsFromEnvironment()
	dataFolder, folderErr := connect.DataFolder("")
	keys, keysErr := KeysFromEnvironment()
	return Options{Temporal: temporal, StorePlace: connect.StorePathOrURL(dataFolder), Keys: keys},
		errors.Join(kind.WithKind(ErrInvalid, err), folderErr, keysErr)
}

// KeysFromEnvironment reads the keys from PROCESSIDEA_KEYS; it returns nil if the variable is not set. The error wraps
// ErrKeys.
func KeysFromEnvironment() (*encryption.Keys, error) {
	keys, err := connect.KeysFromEnvironment()
	return keys, kind.WithKind(ErrKeys, err)
}

// Client is connected to a Temporal server and to the store of its workers. It is safe for concurrent use.
type Client struct {
	temporal             sdk.Client
	namespace            string
	archive              *Archive
	onNoWorker           func(process string, cause error)
	pollsFrequently      bool
	presenterCache       *lru.Cache[string, *shown.Presenter]
	decisionCache        *lru.Cache[string, cachedDecisions] // by process
	rateLimitHoldUpCache rateLimitHoldUpCache
	closers              []func()
}

// dialTimeout bounds one attempt to reach a server.
const dialTimeout = 10 * time.Second

// Dial opens the store and connects to the server. The error wraps ErrKeys if the keys do not fit, and ErrUnreachable
// if the server does not answer.
func Dial(ctx context.Context, o Options) (*Client, error) {
	archive, err := OpenArchive(ctx, o.StorePlace, o.Keys)
	if err != nil {
		return nil, err
	}
	logger := cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	options := o.Temporal
	options.Logger = connect.QuietLogger(sdklog.NewStructuredLogger(logger))
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	temporal, err := sdk.DialContext(ctx, connect.ClientOptions(options, archive.blobStore))
	if err != nil {
		archive.Close()
		return nil, kind.Errorf(ErrUnreachable, "reach Temporal at %s: %w", options.HostPort, err)
	}
	c := New(temporal, cmp.Or(options.Namespace, sdk.DefaultNamespace), archive.blobStore)
	c.onNoWorker, c.pollsFrequently = o.OnNoWorker, o.PollsFrequently
	c.closers = []func(){temporal.Close, archive.Close}
	return c, nil
}

// New makes a Client from a Temporal client whose options went through connect.ClientOptions, its namespace, and the
// store. Closing the Client leaves both open.
func New(temporal sdk.Client, namespace string, store *blobs.Store) *Client {
	presenters, _ := lru.New[string, *shown.Presenter](maxCachedPresenters) // it fails only for a size below one
	cache, _ := lru.New[string, cachedDecisions](maxCachedDecisions)
	return &Client{temporal: temporal, namespace: namespace, archive: newArchive(store), presenterCache: presenters,
		decisionCache: cache}
}

// Close closes what Dial opened.
func (c *Client) Close() {
	for _, do := range c.closers {
		do()
	}
	c.closers = nil
}

// Temporal returns the connection, for what this package does not offer.
func (c *Client) Temporal() sdk.Client { return c.temporal }

// Namespace is the namespace of Temporal that the processes are in.
func (c *Client) Namespace() string { return c.namespace }

// Archive returns the chains of the store. It is closed with the Client.
func (c *Client) Archive() *Archive { return c.archive }

// Chain returns the chain of a process.
func (c *Client) Chain(processID string) *Chain { return c.archive.Chain(processID) }
