package connect

import (
	"net"
	"slices"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"

	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/encryption"
)

// ClientOptions adds to a client's options how payloads are encoded, encrypted with the store's keys, and kept in the
// store if they are large. Every client and every worker of a process needs the same options, or it sees references to
// payloads instead of payloads. Missing keys are reported to the logger.
func ClientOptions(o client.Options, store *blobs.Store) client.Options {
	o.DataConverter = DataConverter(store.Keys())
	o.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
		DataConverter: o.DataConverter,
		// Errors repeat what tools and LLMs said. Without keys they stay readable, for operators.
		EncodeCommonAttributes: store.Keys() != nil,
	})
	if store.Keys() != nil && o.Logger != nil {
		o.Logger = redactingLogger{o.Logger}
	}
	o.ExternalStorage = store.ExternalStorage()
	o.ConnectionOptions.DialOptions = slices.Concat(
		[]grpc.DialOption{recoverPanicsOption(), retryOption()}, o.ConnectionOptions.DialOptions,
		[]grpc.DialOption{ASCIIHeadersOption(), decryptGuardOption(store.Keys(), o.Logger), explainErrorsOption()})
	if o.ConnectionOptions.GrpcCompression == nil && isLocalAddress(o.HostPort) {
		o.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	return o
}

// isLocalAddress reports whether a server is reached over the loopback interface, where compression only costs.
func isLocalAddress(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// DataConverter encodes values as all parts of the program do, and encrypts them if there are keys.
func DataConverter(keys *encryption.Keys) converter.DataConverter {
	return converter.NewCodecDataConverter(protocol.DataConverter(), Codec(keys))
}

// Codec encrypts and decrypts payloads. It leaves payloads that are marked as kept inline readable.
func Codec(keys *encryption.Keys) converter.PayloadCodec {
	return keys.Codec(converter.MetadataMessageType)
}
