package blobs

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// noise gives bytes that look like nothing else.
func noise(n int, seed uint64) []byte {
	data := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed)})
	_, _ = r.Read(data)
	return data
}

func stored(t *testing.T, s *Store, payload *commonpb.Payload) converter.StorageDriverClaim {
	t.Helper()
	claims, err := s.ExternalStorage().Drivers[0].Store(converter.StorageDriverStoreContext{Context: t.Context()},
		[]*commonpb.Payload{payload})
	if err != nil {
		t.Fatal(err)
	}
	return claims[0]
}

func retrieved(t *testing.T, s *Store, c converter.StorageDriverClaim) (*commonpb.Payload, error) {
	t.Helper()
	p, err := s.ExternalStorage().Drivers[0].Retrieve(converter.StorageDriverRetrieveContext{Context: t.Context()},
		[]converter.StorageDriverClaim{c})
	if err != nil {
		return nil, err
	}
	return p[0], nil
}

func size(t *testing.T, dir string) (n int64) {
	t.Helper()
	for _, f := range files(t, dir) {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

func TestWhatTwoLargePayloadsShareIsStoredOnceWhereverItStands(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	first := &commonpb.Payload{Data: noise(1<<20, 1)}
	second := &commonpb.Payload{Data: append(append([]byte("in front of it"), first.Data...), noise(1000, 2)...)}
	claims := []converter.StorageDriverClaim{stored(t, s, first), stored(t, s, second)}
	if n := size(t, dir); n > 1<<20+4*maxPieceBytes {
		t.Errorf("%d bytes are stored", n)
	}
	for n, want := range []*commonpb.Payload{first, second} {
		fresh, err := Open(t.Context(), dir) // that remembers nothing
		if err != nil {
			t.Fatal(err)
		}
		if got, err := retrieved(t, fresh, claims[n]); err != nil || !proto.Equal(got, want) {
			t.Errorf("payload %d is not what it was: %v", n, err)
		}
		_ = fresh.Close()
	}
	if again := stored(t, s,
		proto.Clone(first).(*commonpb.Payload)); again.ClaimData[claimFieldDigest] != claims[0].ClaimData[claimFieldDigest] {
		t.Error("the same payload has another claim")
	}
}

func TestAChangedByteInAPieceIsFound(t *testing.T) {
	t.Parallel()
	s, dir := open(t)
	claim := stored(t, s, &commonpb.Payload{Data: noise(minCutBytes+1, 3)})
	for _, f := range files(t, dir) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(f, data, 0o600); err != nil {
			t.Fatal(err)
		}
		fresh, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := retrieved(t, fresh, claim); err == nil {
			t.Errorf("%s was changed, and nobody saw it", f)
		}
		_ = fresh.Close()
		data[len(data)/2] ^= 1
		if err := os.WriteFile(f, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPiecesAreWhatWasCut(t *testing.T) {
	t.Parallel()
	state := map[string]string{}
	for n := range 3000 {
		state[string(noise(8, uint64(n)))] = "a text that is everywhere the same"
	}
	likeState, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{nil, []byte("x"), noise(minPieceBytes, 1), noise(maxPieceBytes, 2),
		noise(3*maxPieceBytes+1, 3),
		make([]byte, 1<<20), likeState} {
		pieces, err := cutPieces(data)
		if err != nil || !bytes.Equal(bytes.Join(pieces, nil), data) {
			t.Errorf("%d bytes: %d pieces, %v", len(data), len(pieces), err)
		}
		for n, piece := range pieces {
			if len(piece) > maxPieceBytes || (len(piece) < minPieceBytes && n < len(pieces)-1) {
				t.Errorf("piece %d has %d bytes", n, len(piece))
			}
		}
	}
}
