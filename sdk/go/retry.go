package meridian

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstPause = 500 * time.Millisecond
	// jitter spreads clients that wait for the same moment.
	jitter = 500 * time.Millisecond
)

// pause returns how long to wait before the next attempt, and false to give up. So many attempts were
// made so far. A repeatable call may arrive twice.
func (c *Client) pause(failure *Error, attempts int, repeatable bool) (time.Duration, bool) {
	if attempts > c.retries || !isTemporary(failure, repeatable) {
		return 0, false
	}
	if failure.RetryAfter > c.maxWait {
		return 0, false
	}
	if failure.RetryAfter > 0 {
		return failure.RetryAfter + rand.N(jitter), true
	}
	longest := min(c.maxWait, firstPause<<(attempts-1))
	return longest/2 + rand.N(longest/2+1), true
}

func isTemporary(failure *Error, repeatable bool) bool {
	switch failure.Status {
	case 429, 503:
		// The service has not done what was asked.
		return true
	case 502, 504:
		// A proxy does not know whether the service has.
		return repeatable
	}
	return repeatable && (failure.Code == NetworkError || failure.Code == Timeout)
}

// sleep returns an error as soon as the context ends.
func sleep(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
