package telemetry

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"processidea/model/jsonval"
)

// A variable is a setting of OpenTelemetry. OpenTelemetry ignores what it cannot read, with a log line that nobody
// reads.
type variable struct {
	wantedText string
	isReadable func(string) bool
	isSecret   bool // the value is not repeated
}

// otlpVariables are read with both prefixes of otlpPrefixes.
var otlpVariables = map[string]variable{
	"ENDPOINT":    {wantedText: "the collector's address, such as http://collector:4318", isReadable: isHTTPAddress},
	"PROTOCOL":    oneOf(protocolGRPC, protocolHTTP),
	"TIMEOUT":     milliseconds,
	"HEADERS":     {"names and values, such as api-key=abc,tenant=a", areHeaders, true},
	"COMPRESSION": oneOf("gzip", "none"),
	"INSECURE":    boolean,
	"CERTIFICATE": {wantedText: "a file with certificates in PEM form", isReadable: isCertificateFile},
}

const (
	protocolGRPC = "grpc"
	protocolHTTP = "http/protobuf"
)

// otlpPrefixes begin the names of otlpVariables; the first one wins.
var otlpPrefixes = []string{"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"}

var switchVariables = map[string]variable{
	"OTEL_SDK_DISABLED": boolean, "OTEL_TRACES_EXPORTER": oneOf("otlp", "none"),
}

var sdkVariables = map[string]variable{
	"OTEL_TRACES_SAMPLER": {
		wantedText: "always_on, always_off, traceidratio, or one of these with parentbased_ in front",
		isReadable: func(text string) bool {
			return oneOf("always_on", "always_off", "traceidratio").isReadable(strings.TrimPrefix(text, "parentbased_"))
		}},
	"OTEL_TRACES_SAMPLER_ARG": {wantedText: "the share of traces to send, from 0 to 1", isReadable: isShare},
	"OTEL_BSP_SCHEDULE_DELAY": milliseconds, "OTEL_BSP_EXPORT_TIMEOUT": milliseconds,
	"OTEL_BSP_MAX_QUEUE_SIZE": spanCount, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": spanCount,
	"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT": spanLimit, "OTEL_ATTRIBUTE_COUNT_LIMIT": spanLimit,
	"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT": spanLimit, "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": spanLimit,
	"OTEL_SPAN_EVENT_COUNT_LIMIT": spanLimit, "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT": spanLimit,
	"OTEL_SPAN_LINK_COUNT_LIMIT": spanLimit, "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT": spanLimit,
}

var (
	boolean = variable{wantedText: "true or false",
		isReadable: func(text string) bool { return oneOf("true", "false").isReadable(strings.ToLower(text)) }}
	milliseconds = wholeNumber("of milliseconds ", 0, 86_400_000) // a day
	spanCount    = wholeNumber("", 0, 100_000)                    // the exporter reserves memory for so many
	spanLimit    = wholeNumber("", -1, 1_000_000)                 // -1: none
)

func wholeNumber(unit string, lowest, highest int) variable {
	return variable{wantedText: fmt.Sprintf("a whole number %sfrom %d to %d", unit, lowest, highest),
		isReadable: func(text string) bool {
			n, err := strconv.Atoi(text)
			return err == nil && n >= lowest && n <= highest
		}}
}

func oneOf(values ...string) variable {
	return variable{wantedText: strings.Join(values, " or "),
		isReadable: func(text string) bool { return slices.Contains(values, text) }}
}

// check returns an error if the variable has a value that cannot be read.
func (v variable) check(name string, getenv func(string) string) error {
	text := getenv(name)
	switch {
	case text == "" || v.isReadable(text):
		return nil
	case v.isSecret:
		return fmt.Errorf("%s cannot be read; want %s", name, v.wantedText)
	}
	return fmt.Errorf("%s is %q; want %s", name, text, v.wantedText)
}

// checkVariables returns an error for the first variable, by name, that has an unreadable value.
func checkVariables(variables map[string]variable, prefix string, getenv func(string) string) error {
	for name, v := range jsonval.Sorted(variables) {
		if err := v.check(prefix+name, getenv); err != nil {
			return err
		}
	}
	return nil
}

// checkSettings returns an error if OpenTelemetry would ignore a setting.
func checkSettings(getenv func(string) string) error {
	err := checkVariables(sdkVariables, "", getenv)
	for _, prefix := range otlpPrefixes {
		if err == nil {
			err = checkVariables(otlpVariables, prefix, getenv)
		}
		certificate, key := getenv(prefix+"CLIENT_CERTIFICATE"), getenv(prefix+"CLIENT_KEY")
		if certificate+key == "" || err != nil {
			continue
		}
		if _, err = tls.LoadX509KeyPair(certificate, key); err != nil {
			err = fmt.Errorf("%[1]sCLIENT_CERTIFICATE and %[1]sCLIENT_KEY cannot be read; want the files of a "+
				"certificate and its key: %[2]w", prefix, err)
		}
	}
	return err
}

func isHTTPAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func isShare(text string) bool {
	share, err := strconv.ParseFloat(text, 64)
	return err == nil && share >= 0 && share <= 1
}

func areHeaders(text string) bool {
	for header := range strings.SplitSeq(text, ",") {
		name, value, hasValue := strings.Cut(header, "=")
		_, err := url.PathUnescape(value)
		isHeader := hasValue && httpguts.ValidHeaderFieldName(strings.TrimSpace(name)) && err == nil
		if strings.TrimSpace(header) != "" && !isHeader {
			return false
		}
	}
	return true
}

func isCertificateFile(path string) bool {
	data, err := os.ReadFile(path) //nolint:gosec // G304: the operator names it
	return err == nil && x509.NewCertPool().AppendCertsFromPEM(data)
}
