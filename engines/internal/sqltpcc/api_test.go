package sqltpcc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAPIHeader compiles sqlite_api.h together with the header of the SQLite that is linked: a prototype, a type or a
// constant that differs does not compile, nor does a struct whose members lie elsewhere.
func TestAPIHeader(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/mattn/go-sqlite3").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	header := filepath.Join(strings.TrimSpace(string(out)), "sqlite3-binding.h")
	ours, err := os.ReadFile("sqlite_api.h")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#include <stddef.h>\n#include %q\n", header)
	// Ours once as it is, with the structs left out, and once under other names, for the structs.
	names := regexp.MustCompile(`\bsqlite3(_file|_io_methods|_vfs)\b`)
	renamed := names.ReplaceAllString(string(ours), "our$1")
	renamed = strings.ReplaceAll(renamed, "SQLITE_API_H", "OUR_API_H")
	prototypes := regexp.MustCompile(`(?ms)^(int|void|const [a-z ]+|ours?[a-z_]*|sqlite3_[a-z0-9]+) \*?sqlite3_[a-z0-9_]+\([^;]*\);\n`)
	renamed = prototypes.ReplaceAllString(renamed, "")
	renamed = regexp.MustCompile(`(?m)^our_vfs \*sqlite3.*\n|^int sqlite3_vfs_.*\n`).ReplaceAllString(renamed, "")
	b.WriteString("#define SQLITE_API_CHECK\n" + string(ours) + "#undef SQLITE_API_CHECK\n" + renamed)
	for _, s := range []string{"file", "io_methods", "vfs"} {
		body := regexp.MustCompile(`(?ms)struct sqlite3_` + s + ` \{\n(.*?)\n\}`).FindStringSubmatch(string(ours))
		if body == nil {
			t.Fatalf("sqlite_api.h has no struct sqlite3_%s", s)
		}
		members := regexp.MustCompile(`(?m)^  [^(;]*?\(?\*?\(?\*?\b(\w+)(?:\)\(.*|);$`).FindAllStringSubmatch(body[1], -1)
		if len(members) != strings.Count(body[1], ";") {
			t.Fatalf("struct sqlite3_%s: %d members found in\n%s", s, len(members), body[1])
		}
		for _, m := range members {
			fmt.Fprintf(&b, "_Static_assert(offsetof(struct sqlite3_%[1]s, %[2]s) == offsetof(struct our_%[1]s, %[2]s), %[2]q);\n", s, m[1])
		}
		fmt.Fprintf(&b, "_Static_assert(sizeof(struct sqlite3_%[1]s) == sizeof(struct our_%[1]s), %[1]q);\n", s)
	}
	b.WriteString("_Static_assert(SQLITE_VERSION_NUMBER == SQLITE_API_VERSION_NUMBER, \"version\");\n")
	check := filepath.Join(t.TempDir(), "check.c")
	if err := os.WriteFile(check, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "gcc"
	}
	if out, err := exec.Command(compiler, "-std=gnu11", "-Wall", "-Werror", "-fsyntax-only", check).CombinedOutput(); err != nil {
		t.Errorf("sqlite_api.h disagrees with %s: %v\n%s", header, err, out)
	}
}
