package badger

import (
	"fmt"
	"strconv"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"tpccbench/engines"
)

// settings are those that decide what Badger does on a small machine with a slow device. Defaults are Badger's own, but
// for concurrency (see the package's comment), checksums, which Badger would not look at, and the size of value logs:
// each open value log is a mapped file of twice that size, and by default nothing is written to it.
var settings = []engines.Setting{
	{Name: "concurrency", Doc: "one writer, one commit for all that wait; locks per warehouse; or Badger's detection of conflicts with retries",
		Default: "writer", Values: []string{"writer", "warehouse", "optimistic"}},
	{Name: "memtable_bytes", Doc: "size of a memtable, which is flushed when it is full", Default: "67108864"},
	{Name: "memtables", Doc: "full memtables that may wait for their flush before writes stop", Default: "5"},
	{Name: "value_threshold_bytes", Doc: "values from this size on go to the value log", Default: "1048576"},
	{Name: "value_log_file_bytes", Doc: "size of a value log", Default: "16777216"},
	{Name: "block_cache_bytes", Doc: "cache of uncompressed blocks", Default: "268435456"},
	{Name: "index_cache_bytes", Doc: "cache of the tables' indexes and filters; 0: all stay in memory", Default: "0"},
	{Name: "block_size_bytes", Doc: "size of a table's block before compression", Default: "4096"},
	{Name: "l0_tables", Doc: "tables of level 0 that start a compaction; three times as many stop writes", Default: "5"},
	{Name: "compactors", Doc: "goroutines that compact", Default: "4"},
	{Name: "compression", Doc: "of tables", Default: "snappy", Values: []string{"snappy", "none", "zstd"}},
	{Name: "verify_checksums", Doc: "of each block as it is read from a file, or of none", Default: "block", Values: []string{"block", "none"}},
}

var (
	compressions  = map[string]options.CompressionType{"snappy": options.Snappy, "none": options.None, "zstd": options.ZSTD}
	verifications = map[string]options.ChecksumVerificationMode{"block": options.OnBlockRead, "none": options.NoVerification}
)

// badgerOptions makes Badger's options of ours; Logger and DetectConflicts are left to the caller.
func badgerOptions(dir string, opt engines.Options) (badger.Options, error) {
	values := map[string]int{}
	for _, limit := range []struct {
		name        string
		least, most int
	}{
		{"memtable_bytes", 16 << 20, 1 << 29}, // a commit may fill 15 % of it
		{"memtables", 1, 64},
		{"value_threshold_bytes", 1, 1 << 20},
		{"value_log_file_bytes", 1 << 20, 1<<30 - 1},
		{"block_cache_bytes", 1 << 20, 1 << 40},
		{"index_cache_bytes", 0, 1 << 40},
		{"block_size_bytes", 1 << 10, 1 << 20},
		{"l0_tables", 1, 1000},
		{"compactors", 2, 64},
	} {
		text := Factory.Get(opt, limit.name)
		n, err := strconv.Atoi(text)
		if err != nil || n < limit.least || n > limit.most {
			return badger.Options{}, fmt.Errorf("%w: engine badger: %s=%s; it must be a whole number of %d to %d",
				engines.ErrSetting, limit.name, text, limit.least, limit.most)
		}
		values[limit.name] = n
	}
	return badger.DefaultOptions(dir).
		WithSyncWrites(true).
		WithMetricsEnabled(false).
		WithNumVersionsToKeep(1). // older versions serve nobody once no transaction reads them
		WithMemTableSize(int64(values["memtable_bytes"])).
		WithNumMemtables(values["memtables"]).
		WithValueThreshold(int64(values["value_threshold_bytes"])).
		WithValueLogFileSize(int64(values["value_log_file_bytes"])).
		WithBlockCacheSize(int64(values["block_cache_bytes"])).
		WithIndexCacheSize(int64(values["index_cache_bytes"])).
		WithBlockSize(values["block_size_bytes"]).
		WithNumLevelZeroTables(values["l0_tables"]).
		WithNumLevelZeroTablesStall(3 * values["l0_tables"]).
		WithNumCompactors(values["compactors"]).
		WithCompression(compressions[Factory.Get(opt, "compression")]).
		WithChecksumVerificationMode(verifications[Factory.Get(opt, "verify_checksums")]), nil
}
