package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"processidea/model/jsonval"
)

// DataConverter is Temporal's own except for JSON: numbers keep every digit, HTML is not escaped, and an answer to a
// query is marked (see IsKeptInline), or compressed if it is long.
func DataConverter() converter.DataConverter {
	return converter.NewCompositeDataConverter(
		converter.NewNilPayloadConverter(),
		converter.NewByteSlicePayloadConverter(),
		converter.NewProtoJSONPayloadConverter(),
		converter.NewProtoPayloadConverter(),
		compressedConverter{},
		jsonConverter{},
	)
}

type jsonConverter struct{}

// inlineMark begins the payload of an answer to a query. It is white space, which JSON parsers ignore. Metadata would
// be more explicit, but tools do not recognize a payload with any metadata beside its encoding as JSON: the temporal
// CLI prints it as base64.
const inlineMark = ' '

// maxUncompressedAnswerBytes bounds an answer to a query in plain JSON, which every tool and older clients read.
// Temporal takes no answer over 2 MB, and the status of 100,000 instances is longer, so longer answers are compressed.
// The difference is room for encryption.
const maxUncompressedAnswerBytes = 2<<20 - 16<<10

// encodingZlib is the encoding of the SDK's zlib codec.
const encodingZlib = "binary/zlib"

var zlibCodec = converter.NewZlibCodec(converter.ZlibCodecOptions{AlwaysEncode: true})

// IsKeptInline reports whether a payload answers a query. Such a payload stays inline at any size: it is not part of
// history, and people without our store read it.
func IsKeptInline(p *commonpb.Payload) bool {
	data := p.GetData()
	switch string(p.GetMetadata()[converter.MetadataEncoding]) {
	case converter.MetadataEncodingJSON:
		return len(data) > 0 && data[0] == inlineMark
	case encodingZlib: // nothing else is compressed
		return true
	}
	return false
}

// Encoding is plain JSON, which any client can read.
func (jsonConverter) Encoding() string { return converter.MetadataEncodingJSON }

// ToPayload encodes a value as JSON.
func (c jsonConverter) ToPayload(v any) (*commonpb.Payload, error) {
	var b bytes.Buffer
	_, isAnswer := v.(InlinePayload)
	if isAnswer {
		b.WriteByte(inlineMark)
	}
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("%w: %w", converter.ErrUnableToEncode, err)
	}
	metadata := map[string][]byte{converter.MetadataEncoding: []byte(c.Encoding())}
	p := &commonpb.Payload{Metadata: metadata, Data: bytes.TrimSuffix(b.Bytes(), []byte("\n"))}
	if !isAnswer || len(p.Data) <= maxUncompressedAnswerBytes {
		return p, nil
	}
	compressed, err := zlibCodec.Encode([]*commonpb.Payload{p})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", converter.ErrUnableToEncode, err)
	}
	return compressed[0], nil
}

// FromPayload decodes JSON with numbers as they were written.
func (jsonConverter) FromPayload(p *commonpb.Payload, target any) error {
	if err := unmarshal(p.GetData(), target); err != nil {
		return fmt.Errorf("%w: %w", converter.ErrUnableToDecode, err)
	}
	return nil
}

// ToString returns the payload as it is.
func (jsonConverter) ToString(p *commonpb.Payload) string { return string(p.GetData()) }

// compressedConverter decodes what a jsonConverter compressed.
type compressedConverter struct{ jsonConverter }

func (compressedConverter) Encoding() string { return encodingZlib }

// ToPayload encodes nothing: jsonConverter knows what to compress.
func (compressedConverter) ToPayload(any) (*commonpb.Payload, error) { return nil, nil }

func (c compressedConverter) FromPayload(p *commonpb.Payload, target any) error {
	plain, err := zlibCodec.Decode([]*commonpb.Payload{p})
	if err != nil {
		return fmt.Errorf("%w: %w", converter.ErrUnableToDecode, err)
	}
	return c.jsonConverter.FromPayload(plain[0], target)
}

func unmarshal(data []byte, target any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(target); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("text after the JSON value")
	}
	return nil
}

// DecodeSignal reads the payload of a signal from another part of this program. The sender may be a newer version:
// unknown keys are ignored.
func DecodeSignal[T any](raw converter.RawValue) (v T, err error) {
	data, err := jsonData(raw)
	if err == nil && !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		err = errors.New("want one JSON object")
	}
	if err != nil {
		return v, err
	}
	return v, unmarshal(data, &v)
}

// DecodeObject reads the payload of a signal that somebody may have written by hand: one JSON object.
func DecodeObject(raw converter.RawValue) (jsonval.Object, error) {
	data, err := jsonData(raw)
	if err != nil {
		return nil, err
	}
	return jsonval.DecodeObject(data)
}

func jsonData(raw converter.RawValue) ([]byte, error) {
	p := raw.Payload()
	if enc := string(p.GetMetadata()[converter.MetadataEncoding]); enc != converter.MetadataEncodingJSON {
		return nil, fmt.Errorf("want one JSON object, got a payload of encoding %q", enc)
	}
	return p.GetData(), nil
}
