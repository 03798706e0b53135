package memory

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
)

// TestMain is the program that is measured, where a test measures it.
func TestMain(m *testing.M) {
	if IsChild() {
		RunChild()
	}
	os.Exit(m.Run())
}

func TestEachCaseComesToItsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short")
	}
	var out, said bytes.Buffer
	if err := Main(t.Context(), []string{"--quick"}, &out, &said); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), said.String())
	}
	for _, c := range Cases {
		if !strings.Contains(out.String(), "| "+c.Name+" |") {
			t.Errorf("there is no line for %s in\n%s", c.Name, out.String())
		}
	}
}

func TestALimitThatIsPassedIsAnError(t *testing.T) {
	c := Case{Name: "x", LimitMB: 100}
	for mb, met := range map[float64]string{100: "yes", 101: "no"} {
		var out bytes.Buffer
		if err := c.print(&out, mb); (err == nil) != (met == "yes") ||
			!strings.HasSuffix(out.String(), "| 100 | "+met+" |\n") {
			t.Errorf("%v MB: %v, %q", mb, err, out.String())
		}
	}
}

func TestAnUnknownCaseIsRefusedByName(t *testing.T) {
	if _, err := readOptions([]string{"batch", "batsch"}, io.Discard); err == nil ||
		!strings.Contains(err.Error(), `no case "batsch"`) {
		t.Errorf("the error is %v", err)
	}
	if o, err := readOptions([]string{"plan", "--quick", "batch"}, io.Discard); err != nil ||
		len(o.cases) != 2 || !o.quick {
		t.Errorf("%+v, %v", o, err)
	}
}
