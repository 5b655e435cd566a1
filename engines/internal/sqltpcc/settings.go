package sqltpcc

import (
	"fmt"
	"strconv"
	"strings"

	"tpccbench/engines"
)

// Format is the Factory.Format of both adapters: they open each other's stores.
const Format = "sqlite"

// Settings are those of both adapters; their defaults are SQLite's own.
var Settings = []engines.Setting{
	{Name: "page_size", Doc: "bytes of a database page; unset on a store that has data: as it was made", Default: "4096",
		Values: []string{"512", "1024", "2048", "4096", "8192", "16384", "32768", "65536"}, InFormat: true},
	{Name: "mmap_size_bytes", Doc: "bytes of the database file that are read through memory mapping, per connection", Default: "0"},
	{Name: "cache_size_kib", Doc: "most KiB of cached pages, per connection", Default: "2000"},
	{Name: "temp_store", Doc: "where temporary data goes, SAVEPOINT sub-journals among it; default: file", Default: "default",
		Values: []string{"default", "file", "memory"}},
	{Name: "wal_checkpoint_bytes", Doc: "bytes of WAL after which a commit checkpoints, rounded down to pages; default: 1000 pages",
		Default: "default"},
}

// settings are the values of Settings, parsed. A zero pageSize or checkpointBytes: SQLite's default, or what is there.
type settings struct {
	pageSize        int64
	mmapSize        int64
	cacheKiB        int64
	tempStore       string
	checkpointBytes int64
}

// parseSettings reads the settings that all SQLite adapters share; others in opt are not its business.
func parseSettings(opt engines.Options) (settings, error) {
	s := settings{tempStore: "default"}
	for _, set := range []struct {
		name, unset string
		min, max    int64
		value       *int64
	}{
		{"page_size", "", 512, 65536, &s.pageSize},
		{"mmap_size_bytes", "0", 0, 1 << 62, &s.mmapSize},
		{"cache_size_kib", "2000", 1, 1<<31 - 1, &s.cacheKiB},
		{"wal_checkpoint_bytes", "", 512, 1 << 46, &s.checkpointBytes},
	} {
		text, ok := opt.Settings[set.name]
		if !ok {
			text = set.unset
		}
		if text == "" && !ok || set.name == "wal_checkpoint_bytes" && text == "default" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < set.min || n > set.max {
			return s, fmt.Errorf("%w: %s=%s; it takes a number %d..%d", engines.ErrSetting, set.name, text, set.min, set.max)
		}
		*set.value = n
	}
	if text, ok := opt.Settings["temp_store"]; ok {
		s.tempStore = text
	}
	return s, nil
}

// pragmas is the SQL that a new connection runs. pageSize is the store's.
func (s settings) pragmas(pageSize int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "PRAGMA synchronous=FULL;PRAGMA mmap_size=%d;PRAGMA cache_size=-%d;PRAGMA temp_store=%s;",
		s.mmapSize, s.cacheKiB, s.tempStore)
	if s.checkpointBytes > 0 {
		fmt.Fprintf(&b, "PRAGMA wal_autocheckpoint=%d;", s.checkpointBytes/pageSize)
	}
	return b.String()
}

// readBack asks a connection what its settings are. Those that are in Settings have the same names and units.
func readBack(c *Conn) (map[string]string, error) {
	got := map[string]string{}
	for name, sql := range map[string]string{
		"sqlite_version":       "SELECT sqlite_version()",
		"journal_mode":         "PRAGMA journal_mode",
		"synchronous":          "PRAGMA synchronous",
		"page_size":            "PRAGMA page_size",
		"mmap_size_bytes":      "PRAGMA mmap_size",
		"cache_size_kib":       "PRAGMA cache_size",
		"temp_store":           "PRAGMA temp_store",
		"wal_autocheckpoint":   "PRAGMA wal_autocheckpoint",
		"locking_mode":         "PRAGMA locking_mode",
		"compile_options":      "SELECT group_concat(compile_options,' ') FROM pragma_compile_options",
		"sqlite_source_id":     "SELECT sqlite_source_id()",
		"checkpoint_fullfsync": "PRAGMA checkpoint_fullfsync",
	} {
		text, err := c.text(sql)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sql, err)
		}
		got[name] = text
	}
	pageSize, err1 := strconv.ParseInt(got["page_size"], 10, 64)
	pages, err2 := strconv.ParseInt(got["wal_autocheckpoint"], 10, 64)
	cache, err3 := strconv.ParseInt(got["cache_size_kib"], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return nil, fmt.Errorf("SQLite's settings are not numbers: %v", got)
	}
	got["wal_checkpoint_bytes"] = strconv.FormatInt(pages*pageSize, 10)
	if cache < 0 { // KiB; else pages
		cache = -cache
	} else {
		cache = cache * pageSize / 1024
	}
	got["cache_size_kib"] = strconv.FormatInt(cache, 10)
	got["synchronous"] = named(got["synchronous"], "off", "normal", "full", "extra")
	got["temp_store"] = named(got["temp_store"], "default", "file", "memory")
	got["fdatasync"] = named(strconv.Itoa(btoi(HasFdatasync())), "no", "yes")
	got["optimized"] = named(strconv.Itoa(btoi(Optimized())), "no", "yes")
	return got, nil
}

// named gives the name of the number that a PRAGMA answered, or that number.
func named(number string, names ...string) string {
	if n, err := strconv.Atoi(number); err == nil && n >= 0 && n < len(names) {
		return names[n]
	}
	return number
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// check compares what was asked for with what SQLite has: it clamps some values without a word.
func (s settings) check(got map[string]string, pageSize int64) error {
	want := map[string]string{
		"journal_mode":    "wal",
		"synchronous":     "full",
		"mmap_size_bytes": strconv.FormatInt(s.mmapSize, 10),
		"cache_size_kib":  strconv.FormatInt(s.cacheKiB, 10),
		"temp_store":      s.tempStore,
	}
	if s.pageSize != 0 {
		want["page_size"] = strconv.FormatInt(s.pageSize, 10)
	}
	if s.checkpointBytes != 0 {
		want["wal_checkpoint_bytes"] = strconv.FormatInt(s.checkpointBytes/pageSize*pageSize, 10)
	}
	for name, value := range want {
		if got[name] != value {
			return fmt.Errorf("%w: %s=%s was asked for, SQLite has %s", engines.ErrSetting, name, value, got[name])
		}
	}
	return nil
}
