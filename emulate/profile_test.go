package emulate

import (
	"strings"
	"testing"
)

// The delivered profiles are there, and a slow card is slower than a fast one in everything.
func TestProfiles(t *testing.T) {
	by := map[string]Limits{}
	for _, p := range Profiles() {
		by[p.Name] = p.Limits()
	}
	slow, fast := by["slow"], by["fast"]
	if slow.WriteBytesPerS != 5_000_000 || slow.WritesPerS != 200 {
		t.Errorf("slow is %v; the study's is 5 MB/s and 200 writes/s", slow)
	}
	if slow.WriteBytesPerS >= fast.WriteBytesPerS || slow.WritesPerS >= fast.WritesPerS ||
		slow.ReadBytesPerS >= fast.ReadBytesPerS || slow.ReadsPerS >= fast.ReadsPerS {
		t.Errorf("slow (%v) is not slower than fast (%v)", slow, fast)
	}
	if a1 := by["a1"]; a1.WritesPerS != 500 || a1.ReadsPerS != 1500 || a1.WriteBytesPerS != 10_000_000 {
		t.Errorf("a1 is %v; the class asks for 500 writes/s, 1,500 reads/s and 10 MB/s", a1)
	}
}

// A profile with a mistake is refused with its name.
func TestParseProfilesErrors(t *testing.T) {
	good := "[[profile]]\nname=\"x\"\nabout=\"y\"\nwrite_mb_per_s=1\nread_mb_per_s=1\nwrites_per_s=1\nreads_per_s=1\n"
	if _, err := parseProfiles([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                                       "there is none",
		good + good:                              "twice",
		good + "z=1":                             "z",
		strings.Replace(good, `"x"`, `"a@b"`, 1): "@",
		strings.Replace(good, `"y"`, `""`, 1):    "about",
		strings.Replace(good, "writes_per_s=1", "", 1):              "at least 1",
		strings.Replace(good, "read_mb_per_s=1", "foo=1", 1):        "foo",
		strings.Replace(good, "reads_per_s=1", "reads_per_s=-1", 1): "at least 1",
	} {
		if _, err := parseProfiles([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; want one with %q", text, err, want)
		}
	}
}

// A device's place is read as profile and directory, and every mistake is named.
func TestParse(t *testing.T) {
	c, err := Parse("emulate:slow")
	if err != nil || c.Profile.Name != "slow" || c.Dir != DefaultDir {
		t.Errorf("emulate:slow is %+v, %v", c, err)
	}
	c, err = Parse("emulate:fast@/dev/shm")
	if err != nil || c.Profile.Name != "fast" || c.Dir != "/dev/shm" {
		t.Errorf("emulate:fast@/dev/shm is %+v, %v", c, err)
	}
	for place, want := range map[string]string{
		"emulate:":          "there are: slow, fast",
		"emulate:quick":     `no profile "quick"`,
		"emulate:slow@":     "emulate:PROFILE@DIR",
		"/mnt":              "emulate:PROFILE@DIR",
		"emulate:@/dev/shm": `no profile ""`,
	} {
		if _, err := Parse(place); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want one with %q", place, err, want)
		}
	}
	if Is("/mnt/emulate:x") || !Is("emulate:x") {
		t.Error("Is does not tell a place from a directory")
	}
}
