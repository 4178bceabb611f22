package meridian

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Codes of this client. All others are codes of the API.
const (
	// NetworkError: the service could not be reached, or the connection broke.
	NetworkError = "NETWORK_ERROR"
	// Timeout: the service did not answer in time.
	Timeout = "TIMEOUT"
	// UnexpectedAnswer: the answer is not the service's, for example a page of a proxy.
	UnexpectedAnswer = "UNEXPECTED_ANSWER"
)

const (
	badRequest   = "BAD_REQUEST"
	addressError = "Not an IPv4 or IPv6 address"
)

// Error is why a call failed.
type Error struct {
	// Code is stable; the message may change.
	Code    string
	Message string
	// Status is the HTTP status, 0 without an answer.
	Status int
	// RequestID finds the request in the log of the service; empty if there is none.
	RequestID string
	// RetryAfter is when the service may answer; 0 if it does not say.
	RetryAfter time.Duration

	cause error
}

func (e *Error) Error() string {
	request := ""
	if e.RequestID != "" {
		request = fmt.Sprintf(" (request %s)", e.RequestID)
	}
	return fmt.Sprintf("meridian: %s: %s%s", e.Code, e.Message, request)
}

// Unwrap returns what the network reported, if that is the reason.
func (e *Error) Unwrap() error {
	return e.cause
}

// apiError is the form of the API's errors.
type apiError struct {
	Error *errorDetail `json:"error"`
}

type errorDetail struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// toError returns the error in an answer.
func toError(response *http.Response, body []byte, now time.Time) *Error {
	failure := &Error{
		Code:       UnexpectedAnswer,
		Message:    fmt.Sprintf("The answer is not one of Meridian: status %d", response.StatusCode),
		Status:     response.StatusCode,
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: readRetryAfter(response.Header.Get("Retry-After"), now),
	}
	if detail := errorIn(body); detail != nil {
		failure.Code, failure.Message = detail.Code, detail.Message
	} else if response.StatusCode/100 == 3 {
		failure.Message = "The service redirects: the url must be the address to which it does"
	}
	return failure
}

// errorIn returns nil if the body is not an error of the API.
func errorIn(body []byte) *errorDetail {
	var parsed apiError
	if json.Unmarshal(body, &parsed) != nil {
		return nil
	}
	return parsed.Error
}

// readRetryAfter reads a number of seconds or a date (RFC 9110, 10.2.3).
func readRetryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return max(0, date.Sub(now))
}
