package record

import (
	"encoding/json"
	"testing"
)

// A device that is an emulation is labelled in the CSV; any other has its name alone.
func TestDeviceText(t *testing.T) {
	for storage, want := range map[string]string{
		"":                   "sd",
		`{"fs_type":"ext4"}`: "sd",
		`{"fs_type":"ext4","emulation":{"profile":"slow"}}`: "sd (emulated: slow)",
	} {
		r := &Run{Spec: Spec{Device: "sd"}, Storage: json.RawMessage(storage)}
		if got := r.DeviceText(); got != want {
			t.Errorf("storage %q: %q; want %q", storage, got, want)
		}
		for _, c := range Columns {
			if c.Name == "device" && c.Value(r) != want {
				t.Errorf("storage %q: column %q; want %q", storage, c.Value(r), want)
			}
		}
	}
}
