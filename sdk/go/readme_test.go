package meridian_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	sample  = regexp.MustCompile("(?ms)^<!-- (\\w+)\\.go -->\n\n```go\n(.*?)^```$")
	comment = regexp.MustCompile(`(?m)(?:Println\(.*\) |^\t)// (.*)$`)
)

// buildSamples builds the samples of README.md in a module of their own, and returns them by name.
func buildSamples(t *testing.T, folder string) map[string]string {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]string{}
	for _, found := range sample.FindAllStringSubmatch(string(readme), -1) {
		samples[found[1]] = found[2]
		write(t, filepath.Join(folder, found[1], "main.go"), found[2])
	}
	write(t, filepath.Join(folder, "go.mod"), "module samples\n\ngo 1.25\n")
	run(t, folder, "go", "mod", "edit", "-require=meridian@v0.1.0", "-replace=meridian="+here)
	run(t, folder, "go", "vet", "./...")
	run(t, folder, "go", "build", "-o", "bin/", "./...")
	return samples
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// withBundledData is for the samples: readers have the bundled databases, not those of the tests.
var withBundledData = []string{
	"MERIDIAN_URL=" + os.Getenv("BUNDLED_URL"),
	"MERIDIAN_KEY=" + os.Getenv("BUNDLED_KEY"),
}

func run(t *testing.T, folder, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	command.Env = append(os.Environ(), withBundledData...)
	var stderr strings.Builder
	command.Stderr = &stderr
	stdout, err := command.Output()
	if err != nil {
		t.Fatal(program, args, err, string(stdout), stderr.String())
	}
	return string(stdout)
}

func TestTheSamplesOfTheReadme(t *testing.T) {
	folder := t.TempDir()
	samples := buildSamples(t, folder)
	for _, name := range []string{"locate", "list", "errors"} {
		var want []string
		for _, found := range comment.FindAllStringSubmatch(samples[name], -1) {
			want = append(want, found[1])
		}
		got := strings.TrimSpace(run(t, folder, filepath.Join(folder, "bin", name)))
		if len(want) == 0 || got != strings.Join(want, "\n") {
			t.Errorf("%s prints %q, not %q", name, got, want)
		}
	}
	greetVisitor(t, filepath.Join(folder, "bin", "server"))
}

// greetVisitor starts the server and visits it through a proxy.
func greetVisitor(t *testing.T, server string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), server)
	command.Env = append(os.Environ(), "PORT=0")
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}()
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + strings.TrimSpace(address)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Forwarded-For", london)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || string(text) != "Hello London" {
		t.Error(string(text), err)
	}
}
