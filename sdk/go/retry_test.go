package meridian

import (
	"net/http"
	"testing"
	"time"
)

func TestPauses(t *testing.T) {
	client, err := New("http://127.0.0.1", "key")
	if err != nil {
		t.Fatal(err)
	}
	limited := &Error{Status: 429, RetryAfter: 7 * time.Second}
	for attempts, longest := range map[int]time.Duration{1: firstPause, 2: 2 * firstPause, 3: 4 * firstPause} {
		pause, again := client.pause(&Error{Status: 503}, attempts, true)
		if !again || pause < longest/2 || pause > longest {
			t.Errorf("after %d attempts: %v, %v", attempts, pause, again)
		}
		pause, again = client.pause(limited, attempts, false)
		if !again || pause < limited.RetryAfter || pause > limited.RetryAfter+jitter {
			t.Errorf("after %d attempts: %v, %v", attempts, pause, again)
		}
	}
	if _, again := client.pause(limited, 4, true); again {
		t.Error("a fifth attempt")
	}
	if _, again := client.pause(&Error{Status: 503, RetryAfter: 61 * time.Second}, 1, true); again {
		t.Error("an attempt after more than a minute")
	}
}

func TestOnlyReadsAreRepeatedIfTheyMayHaveArrived(t *testing.T) {
	for _, failure := range []*Error{{Code: NetworkError}, {Code: Timeout}, {Status: 502}, {Status: 504}} {
		if !isTemporary(failure, true) || isTemporary(failure, false) {
			t.Errorf("%+v", failure)
		}
	}
	for _, status := range []int{200, 400, 401, 403, 404, 413, 500} {
		if isTemporary(&Error{Status: status, Code: UnexpectedAnswer}, true) {
			t.Error(status)
		}
	}
}

func TestRetryAfterIsANumberOrADate(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	for text, want := range map[string]time.Duration{
		"":     0,
		"7":    7 * time.Second,
		"-7":   0,
		"soon": 0,
		now.Add(20 * time.Second).UTC().Format(http.TimeFormat): 20 * time.Second,
		now.Add(-time.Hour).UTC().Format(http.TimeFormat):       0,
	} {
		if got := readRetryAfter(text, now); got != want {
			t.Errorf("%q is %v", text, got)
		}
	}
}
