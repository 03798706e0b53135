package builtin

import (
	"context"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // for images without a zone database

	"github.com/itchyny/timefmt-go"

	"processidea/tools"
)

type currentTimeParams struct {
	Zone   string `json:"zone,omitempty" jsonschema:"An IANA time zone such as Europe/Berlin; UTC unless said."`
	Format string `json:"format,omitempty" jsonschema:"A strftime format such as %Y-%m-%d; RFC 3339 unless said."`
}

func currentTime(_ context.Context, in currentTimeParams) (string, error) {
	return formatTime(time.Now(), in)
}

func formatTime(now time.Time, in currentTimeParams) (string, error) {
	zone, err := time.LoadLocation(in.Zone)
	// "Local" would depend on the worker that runs the Call.
	if err != nil || strings.EqualFold(in.Zone, "local") {
		return "", tools.Final(fmt.Errorf("zone %q: not an IANA time zone", in.Zone))
	}
	if in.Format == "" {
		return now.In(zone).Format(time.RFC3339), nil
	}
	return timefmt.Format(now.In(zone), in.Format), nil
}
