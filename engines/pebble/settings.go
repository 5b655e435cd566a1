package pebble

import (
	"fmt"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"

	"tpccbench/engines"
)

// settings are those that decide what Pebble does on a small machine with a slow device. Defaults are Pebble's own, but
// where CockroachDB, whose store it is, runs it with others: memtables, filters, and when level 0 is compacted. The cache is
// so large that all memtables leave half of it: with 128 MiB two of them left nothing, and each read went to the file and was
// decompressed (13.8k became 8.2k transactions/s in memory, 64 terminals, 30 s).
var settings = []engines.Setting{
	{Name: "concurrency", Doc: "locks per warehouse, syncs grouped by Pebble's commit pipeline; or one writer, one commit for all that wait",
		Default: "warehouse", Values: []string{"warehouse", "writer"}},
	{Name: "memtable_bytes", Doc: "size of a memtable, which is flushed when it is full", Default: "67108864"},
	{Name: "memtables", Doc: "full memtables that may wait for their flush, with the one in use, before writes stop", Default: "4"},
	{Name: "block_cache_bytes", Doc: "cache of uncompressed blocks, out of which Pebble takes its memtables", Default: "536870912"},
	{Name: "block_size_bytes", Doc: "size of a table's block before compression", Default: "4096"},
	{Name: "bytes_per_sync", Doc: "bytes of a table after which its writing out is begun", Default: "524288"},
	{Name: "wal_bytes_per_sync", Doc: "bytes of the WAL after which its writing out is begun without being asked for; 0: never", Default: "0"},
	{Name: "wal_min_sync_interval_us", Doc: "time between two syncs of the WAL at least, so that more commits share one; 0: at once", Default: "0"},
	{Name: "l0_compaction_threshold", Doc: "tables one above the other in level 0 that start a compaction", Default: "2"},
	{Name: "l0_stop_writes_threshold", Doc: "tables one above the other in level 0 that stop writes", Default: "1000"},
	{Name: "compression", Doc: "of tables", Default: "snappy", Values: []string{"snappy", "none", "zstd"}},
	{Name: "bloom_bits_per_key", Doc: "Bloom filter of a table, for reads by key; 0: none", Default: "10"},
}

// indexBlockBytes is the size of a block of a table's index: CockroachDB's. With Pebble's own, that of a data block, a table's
// index has two levels, and each read by key looks into one more.
const indexBlockBytes = 256 << 10

// compressions are the values of compression.
var compressions = map[string]*sstable.CompressionProfile{
	"snappy": sstable.SnappyCompression, "none": sstable.NoCompression, "zstd": sstable.ZstdCompression,
}

// pebbleOptions makes Pebble's options of ours; FS, Logger and EventListener are left to the caller.
func pebbleOptions(opt engines.Options) (*pebble.Options, error) {
	values := map[string]int{}
	for _, limit := range []struct {
		name        string
		least, most int
	}{
		{"memtable_bytes", 256 << 10, 1 << 30},
		{"memtables", 2, 64},
		{"block_cache_bytes", 1 << 20, 1 << 40},
		{"block_size_bytes", 1 << 10, 1 << 20},
		{"bytes_per_sync", 4096, 1 << 30},
		{"wal_bytes_per_sync", 0, 1 << 30},
		{"wal_min_sync_interval_us", 0, 1_000_000},
		{"l0_compaction_threshold", 1, 1000},
		{"l0_stop_writes_threshold", 2, 10_000},
		{"bloom_bits_per_key", 0, 64},
	} {
		text := Factory.Get(opt, limit.name)
		n, err := strconv.Atoi(text)
		if err != nil || n < limit.least || n > limit.most {
			return nil, fmt.Errorf("%w: engine pebble: %s=%s; it must be a whole number of %d to %d",
				engines.ErrSetting, limit.name, text, limit.least, limit.most)
		}
		values[limit.name] = n
	}
	if values["l0_stop_writes_threshold"] < values["l0_compaction_threshold"] {
		return nil, fmt.Errorf("%w: engine pebble: l0_stop_writes_threshold=%d is less than l0_compaction_threshold=%d",
			engines.ErrSetting, values["l0_stop_writes_threshold"], values["l0_compaction_threshold"])
	}
	if full := values["memtables"] * values["memtable_bytes"]; values["block_cache_bytes"] < full {
		return nil, fmt.Errorf("%w: engine pebble: block_cache_bytes=%d is less than memtables x memtable_bytes = %d, which Pebble takes out of it",
			engines.ErrSetting, values["block_cache_bytes"], full)
	}
	interval := time.Duration(values["wal_min_sync_interval_us"]) * time.Microsecond
	options := &pebble.Options{
		FormatMajorVersion:          pebble.FormatNewest,
		CacheSize:                   int64(values["block_cache_bytes"]),
		MemTableSize:                uint64(values["memtable_bytes"]),
		MemTableStopWritesThreshold: values["memtables"],
		BytesPerSync:                values["bytes_per_sync"],
		WALBytesPerSync:             values["wal_bytes_per_sync"],
		WALMinSyncInterval:          func() time.Duration { return interval },
		L0CompactionThreshold:       values["l0_compaction_threshold"],
		L0StopWritesThreshold:       values["l0_stop_writes_threshold"],
	}
	profile := compressions[Factory.Get(opt, "compression")]
	for i := range options.Levels {
		level := &options.Levels[i]
		level.BlockSize = values["block_size_bytes"]
		level.IndexBlockSize = indexBlockBytes
		level.Compression = func() *sstable.CompressionProfile { return profile }
		if bits := values["bloom_bits_per_key"]; bits > 0 {
			level.FilterPolicy = bloom.FilterPolicy(bits)
		}
	}
	return options, nil
}
