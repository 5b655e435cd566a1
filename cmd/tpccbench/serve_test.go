package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tpccbench/study"
)

// TestServe: serve loads an empty directory, says where it is, answers curl's kind of request, ends on SIGTERM and SIGINT
// with code 0, and what it acknowledged is in the store, which it serves again, and which passes every check. Without
// --dir it leaves nothing.
func TestServe(t *testing.T) {
	ram := ramDir(t)
	store := filepath.Join(ram, "store")
	if err := os.Mkdir(store, 0o755); err != nil {
		t.Fatal(err)
	}
	payment := `{"w_id":1,"d_id":2,"c_w_id":1,"c_d_id":2,"by_name":false,"c_last":0,"c_id":7,"amount":1234,"date":1767225600000}`
	balances := []string{`"c_balance":-2234`, `"c_balance":-3468`}
	for i, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		if answer := serveOnce(t, end, payment, "--dir", store); !strings.Contains(answer, balances[i]) {
			t.Errorf("payment %d: %s; want %s", i+1, answer, balances[i])
		}
	}
	check := exec.Command(os.Args[0], "check", "--engine", "pure", store)
	check.Env = append(os.Environ(), asProgram+"=1")
	if out, err := check.CombinedOutput(); err != nil || !strings.Contains(string(out), "clauses 3.3.2.1 to 3.3.2.12 hold") {
		t.Errorf("check: %v\n%s", err, out)
	}
	if err := os.RemoveAll(store); err != nil {
		t.Fatal(err)
	}
	if answer := serveOnce(t, syscall.SIGTERM, payment, "--device", "ram="+ram, "--seed", "5", "--allow-remote"); !strings.Contains(answer, `"c_id":7`) {
		t.Error(answer)
	}
	if left, err := os.ReadDir(ram); err != nil || len(left) > 0 {
		t.Errorf("%v is left in %s, %v", left, ram, err)
	}
}

// serveOnce serves engine pure until it has answered one payment, and returns the answer.
func serveOnce(t *testing.T, end syscall.Signal, payment string, flags ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"serve", "--engine", "pure"}, flags...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	var at study.Serving
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil || at.PID != cmd.Process.Pid || at.Engine != "pure" || !strings.HasPrefix(at.URL, "http://127.0.0.1:") {
		t.Fatalf("serve said %q, %v, %s", line, err, stderr.String())
	}
	r, err := http.Post(at.URL+"/v1/payment", "application/json", strings.NewReader(payment))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%d %s, %v", r.StatusCode, answer, err)
	}
	if err := cmd.Process.Signal(end); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after %v: %v; it said %s", end, err, stderr.String())
	}
	warned := strings.Contains(stderr.String(), "nobody is asked who they are")
	if wants := strings.Contains(strings.Join(flags, " "), "--allow-remote"); warned != wants {
		t.Errorf("%v: stderr %q", flags, stderr.String())
	}
	return string(answer)
}
