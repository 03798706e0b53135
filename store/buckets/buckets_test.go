package buckets_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http/httptest"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"golang.org/x/sync/errgroup"

	"processidea/store/blobs"
	_ "processidea/store/buckets"
	"processidea/store/encryption"
)

// bucket is the URL of an empty bucket on a server of S3's API.
func bucket(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("process-idea"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "any")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "any")
	return "s3://process-idea?region=eu-central-1&use_path_style=true&endpoint=" + server.URL
}

// Two programs on one bucket have one store: each reads what the other wrote, and a process has one data key though
// both want to make it. A server's environment is the whole process's, so that this runs alone.
func TestABucketOnS3IsAStoreForAllThatOpenIt(t *testing.T) {
	place := bucket(t)
	entry, err := encryption.GenerateKey("k1")
	if err != nil {
		t.Fatal(err)
	}
	var stores [2]*blobs.Store
	for n := range stores {
		keys, err := encryption.Parse(entry)
		if err == nil {
			stores[n], err = blobs.Open(t.Context(), place, blobs.WithKeys(keys))
		}
		if err == nil {
			err = stores[n].EnsureID(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = stores[n].Close() })
	}
	if a, b := stores[0].ID(), stores[1].ID(); a == "" || a != b {
		t.Errorf("one bucket is the stores %q and %q", a, b)
	}
	ctx := blobs.WithProcess(t.Context(), "refund-17")
	large := make([]byte, 6<<20) // S3 takes what is larger than 5 MB in parts
	_, _ = rand.Read(large)
	values := [][]byte{[]byte(`"small"`), large}
	digests := make([]string, len(values))
	var both errgroup.Group
	for n := range values {
		both.Go(func() (err error) { digests[n], err = stores[n].Put(ctx, values[n]); return err })
	}
	if err := both.Wait(); err != nil {
		t.Fatal(err)
	}
	for n, value := range values {
		if got, err := stores[1-n].Get(ctx, digests[n]); err != nil || !bytes.Equal(got, value) {
			t.Errorf("of %d bytes the other program reads %d: %v", len(value), len(got), err)
		}
	}
	if owners, err := stores[0].ListDataKeyOwners(ctx); err != nil || len(owners) != 1 {
		t.Errorf("there are %d data keys: %v", len(owners), err)
	}
	if items, err := stores[0].ListOwnedValues(ctx, "refund-17"); err != nil || len(items) < 2 {
		t.Errorf("%d values belong to the process: %v", len(items), err)
	}
	if err := stores[0].Forget(ctx, "refund-17"); err != nil {
		t.Fatal(err)
	}
	again, err := blobs.Open(t.Context(), place, blobs.WithKeys(stores[0].Keys()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Close() })
	if got, err := again.Get(ctx, digests[0]); err == nil {
		t.Errorf("what was forgotten can be read: %s", got)
	}
}

// Google Cloud Storage and Azure need their own servers; that their drivers are there is what can be seen here.
func TestEveryKindOfBucketIsKnown(t *testing.T) {
	t.Setenv("AZURE_STORAGE_ACCOUNT", "any")
	t.Setenv("AZURE_STORAGE_KEY", "YW55")
	for _, place := range []string{"gs://any?access_id=-", "azblob://any"} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nobody is asked
		if _, err := blobs.Open(ctx, place); err == nil || bytes.Contains([]byte(err.Error()), []byte("no kind of store")) {
			t.Errorf("%s: %v", place, err)
		}
	}
}
