package record

import "encoding/json"

// Emulation names the profile of the emulated card that the run's data was on; empty: the device was what it says.
func (r *Run) Emulation() string {
	var storage struct {
		Emulation struct {
			Profile string `json:"profile"`
		} `json:"emulation"`
	}
	if json.Unmarshal(r.Storage, &storage) != nil { // none, or of an older program
		return ""
	}
	return storage.Emulation.Profile
}

// DeviceText is the name of the run's device, with the emulated card if it was one: sd (emulated: slow).
func (r *Run) DeviceText() string {
	if profile := r.Emulation(); profile != "" {
		return r.Spec.Device + " (emulated: " + profile + ")"
	}
	return r.Spec.Device
}
