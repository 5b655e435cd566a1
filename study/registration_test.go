package study

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tpccbench/matrix"
	"tpccbench/record"
)

// testPlan is a plan of two null cells without gates or tuning.
const testPlan = `format = "tpccbench.plan"
version = 1
name = "mini"
title = "A plan for tests"
seed = 1
order_seed = 1
mix = [45, 43, 4, 4, 4]

[[device]]
name = "ram"
kind = "memory"
seconds = 1
warm_up_seconds = 0
rounds = 1

[gates]
equal_transactions = 20
equal_engines = ["pure", "liar"]
equal_device = "ram"
published_clauses = [1, 2, 3, 4]
checked_clauses = [5, 6, 7, 8, 9, 10, 11, 12]
max_failures = 0

[[cell]]
engine = "pure"
terminals = [1, 2]
w = [1]
devices = ["ram"]
`

// git runs git in dir with nothing of the user's configuration.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPlanCommit: only a file that is tracked and equal to the committed one has a commit, and it is the last
// one that changed the file; a file's name is never taken for a pattern.
func TestPlanCommit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, name := range []string{"plan.toml", "[p]*lan :?#%ü.toml", "-p.toml"} {
		dir := mkdir(t, t.TempDir(), "a b?ü")
		path := filepath.Join(dir, name)
		write(t, path, "a")
		refused := func(when, want string) {
			t.Helper()
			if commit, err := PlanCommit(path); err == nil || !strings.Contains(err.Error(), want) || commit != "" {
				t.Errorf("%s, %s: commit %q, error %v; want %q", name, when, commit, err, want)
			}
		}
		refused("no repository", "is not tracked by git")
		git(t, dir, "init", "-q")
		refused("untracked", "is not tracked by git")
		git(t, dir, "add", "--", ":(literal)"+name)
		refused("added", "differs from the committed one")
		git(t, dir, "commit", "-qm", "plan")
		want := git(t, dir, "rev-parse", "HEAD")
		write(t, filepath.Join(dir, "plan"), "another file")
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-qm", "another file")
		if commit, err := PlanCommit(path); err != nil || commit != want {
			t.Errorf("%s, committed: %q %v; want %s", name, commit, err, want)
		}
		write(t, path, "b")
		refused("modified", "differs from the committed one")
		git(t, dir, "add", "--", ":(literal)"+name)
		refused("modified and added", "differs from the committed one")
		git(t, dir, "reset", "-q", "--hard")
		git(t, dir, "update-index", "--assume-unchanged", "--", name)
		write(t, path, "c")
		refused("modified, and git told to pass over it", "differs from the committed one")
	}
}

// TestPlanCommitElsewhere: neither the current directory nor git's own environment variables decide which
// repository is asked.
func TestPlanCommitElsewhere(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, filepath.Join(dir, "plan.toml"), "a")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "plan")
	t.Chdir(dir)
	if _, err := PlanCommit("plan.toml"); err != nil {
		t.Error(err)
	}
	outside := filepath.Join(t.TempDir(), "plan.toml")
	write(t, outside, "a")
	t.Setenv("GIT_DIR", filepath.Join(dir, ".git"))
	t.Setenv("GIT_WORK_TREE", dir)
	if commit, err := PlanCommit(outside); err == nil {
		t.Errorf("a file outside of the repository has commit %s", commit)
	}
	t.Setenv("PATH", "")
	if _, err := PlanCommit("plan.toml"); err == nil || err.Error() != "git is not installed" {
		t.Errorf("without git: %v", err)
	}
}

// TestStanding: a run is registered only if plan and program are committed unchanged; a quick one is marked as quick.
func TestStanding(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "plan.toml")
	write(t, path, testPlan)
	plan, err := matrix.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	clean := record.Build{ToolCommit: "c0ffee"}
	if reg, why := standing(plan, path, clean); !reg.Exploratory || len(why) != 1 || reg.PlanCommit != "" {
		t.Errorf("without a repository: %+v %q", reg, why)
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "plan")
	for _, c := range []struct {
		name  string
		quick bool
		build record.Build
		want  string
	}{
		{"clean", false, clean, ""},
		{"quick", true, clean, ""}, // marked as quick, which no table mistakes for a result
		{"unknown commit", false, record.Build{}, "does not know the commit"},
		{"changed program", false, record.Build{ToolCommit: "c0ffee", ToolModified: true}, "changed checkout"},
	} {
		plan := plan
		if c.quick {
			plan = plan.Quick()
		}
		reg, why := standing(plan, path, c.build)
		if text := strings.Join(why, "; "); (text == "") != (c.want == "") || !strings.Contains(text, c.want) || reg.Exploratory != (c.want != "") {
			t.Errorf("%s: exploratory %v, why %q; want %q", c.name, reg.Exploratory, text, c.want)
		}
		if reg.PlanSHA256 != plan.SHA256() || reg.PlanCommit != git(t, dir, "rev-parse", "HEAD") || reg.Quick != c.quick {
			t.Errorf("%s: %+v", c.name, reg)
		}
	}
}
