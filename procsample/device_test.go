package procsample

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what came out into testdata as what is wanted; read the difference")

// Each fixture says which directory is asked for and which device, facts and counters must come out.
func TestDeviceOf(t *testing.T) {
	files, err := filepath.Glob("testdata/device/*.txtar")
	mustDo(t, err)
	if len(files) == 0 {
		t.Fatal("no fixtures")
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "device/"+name+".txtar")
			d := f.DeviceOf(f.text("dir"))
			if (d.Reason == "") != (len(d.On) > 0) || (d.Reason == "") != (d.Name() != "none") {
				t.Errorf("a device without a name must have a reason, and only such a one: %+v", d)
			}
			c := f.Counters(d)
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetIndent("", "  ")
			enc.SetEscapeHTML(false)
			mustDo(t, enc.Encode(struct {
				Device                      Device
				WriteBytes, Writes, Flushes Value
			}{d, c.WriteBytes, c.Writes, c.Flushes}))
			out := strings.ReplaceAll(got.String(), f.root, "")
			if *update {
				write(t, file, f.archive, out)
				return
			}
			if want := f.text("want.json"); strings.TrimSpace(out) != want {
				t.Errorf("got\n%s\nwant\n%s", out, want)
			}
		})
	}
}

// write puts out into the archive as want.json.
func write(t *testing.T, file string, a *txtar.Archive, out string) {
	kept := a.Files[:0]
	for _, f := range a.Files {
		if f.Name != "want.json" {
			kept = append(kept, f)
		}
	}
	a.Files = append([]txtar.File{{Name: "want.json", Data: []byte(out)}}, kept...)
	mustDo(t, os.WriteFile(file, txtar.Format(a), 0o644))
}
