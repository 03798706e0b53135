package encryption

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

func payload(data string, metadata ...string) *commonpb.Payload {
	p := &commonpb.Payload{Data: []byte(data), Metadata: map[string][]byte{"encoding": []byte("json/plain")}}
	for _, name := range metadata {
		p.Metadata[name] = []byte("value of " + name)
	}
	return p
}

func TestAPayloadIsEncryptedWithItsMetadataAndComesBack(t *testing.T) {
	t.Parallel()
	k := parse(t, fresh(t, "k1"))
	in := []*commonpb.Payload{payload(`"hello"`, "inline", "messageType", "other"),
		payload(`"hello"`, "other", "messageType", "inline"), payload("")}
	out, err := k.Codec("inline", "absent").Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	for n, p := range out {
		if string(p.GetMetadata()["encoding"]) != "binary/encrypted" ||
			string(p.GetMetadata()["encryption-key-id"]) != "k1" {
			t.Errorf("%d: %v", n, p.GetMetadata())
		}
		raw, _ := proto.Marshal(p)
		if bytes.Contains(raw, []byte("hello")) || bytes.Contains(raw, []byte("messageType")) ||
			bytes.Contains(raw, []byte("json/plain")) {
			t.Errorf("%d: %q", n, raw)
		}
	}
	if string(out[0].GetMetadata()["inline"]) != "value of inline" || len(out[0].GetMetadata()) != 3 ||
		len(out[2].GetMetadata()) != 2 {
		t.Errorf("%v, %v", out[0].GetMetadata(), out[2].GetMetadata())
	}
	if !proto.Equal(out[0], out[1]) {
		t.Error("one payload is encrypted in two ways")
	}
	back, err := k.Codec().Decode(out)
	if err != nil {
		t.Fatal(err)
	}
	for n := range in {
		if !proto.Equal(back[n], in[n]) {
			t.Errorf("%v became %v", in[n], back[n])
		}
	}
}

func TestAPayloadThatWasNotEncryptedIsDecodedAsItIs(t *testing.T) {
	t.Parallel()
	for _, k := range []*Keys{nil, parse(t, fresh(t, "k1"))} {
		p := payload(`{"limits": {}}`)
		if back, err := k.Codec().Decode([]*commonpb.Payload{p}); err != nil || !proto.Equal(back[0], p) {
			t.Errorf("%v: %v, %v", k, back, err)
		}
	}
}

func TestAPayloadThatDoesNotOpenIsAnErrorThatNamesItsKey(t *testing.T) {
	t.Parallel()
	k1 := parse(t, fresh(t, "k1"))
	out, err := k1.Codec().Encode([]*commonpb.Payload{payload(`"hello"`)})
	if err != nil {
		t.Fatal(err)
	}
	var missing *MissingKeyError
	for _, k := range []*Keys{nil, parse(t, fresh(t, "k2"))} {
		if _, err := k.Codec().Decode(out); !errors.As(err, &missing) ||
			!strings.HasPrefix(err.Error(), "encryption: decrypt payload: encrypted with key k1, ") {
			t.Errorf("%v: %v", k, err)
		}
	}
	if _, err := parse(t, fresh(t, "k1")).Codec().Decode(out); !errors.Is(err, ErrAltered) ||
		!strings.Contains(err.Error(), "key k1") {
		t.Error(err)
	}
	foreign := &commonpb.Payload{Metadata: map[string][]byte{
		converter.MetadataEncoding: []byte(EncodingEncrypted),
		MetadataKeyID:              []byte("\x1b[2J\n" + strings.Repeat("x", 1000)),
	}}
	_, err = k1.Codec().Decode([]*commonpb.Payload{foreign})
	if !errors.As(err, &missing) || strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 200 {
		t.Errorf("%q", err)
	}
}

// What was sealed to be something else is no payload, whoever hands it in as one.
func TestAStoredValueIsNoPayload(t *testing.T) {
	t.Parallel()
	k := parse(t, fresh(t, "k1"))
	plain, _ := proto.Marshal(payload(`"hello"`))
	sealed, _ := k.Seal(plain, "a value")
	p := &commonpb.Payload{Data: sealed, Metadata: map[string][]byte{"encoding": []byte(EncodingEncrypted),
		MetadataKeyID: []byte("k1")}}
	if _, err := k.Codec().Decode([]*commonpb.Payload{p}); !errors.Is(err, ErrAltered) {
		t.Error(err)
	}
}
