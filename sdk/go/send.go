package meridian

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// mostBytes bounds the memory for an answer: a batch of 1,000 results has less than 2 MB.
const mostBytes = 32 << 20

// call is a request. With a body it is a POST, else a GET.
type call struct {
	path  string
	query url.Values
	body  any
	// mayBeUnknown: a body without an error is the answer although its status is 404, nobody knows.
	mayBeUnknown bool
}

// repeatable is whether the call may arrive twice. A list whose answer was lost would count twice.
func (c call) repeatable() bool {
	return c.body == nil
}

// send returns the JSON of the answer, or an *Error, or the cause for which the context ended.
func (c *Client) send(ctx context.Context, call call) ([]byte, error) {
	for attempts := 1; ; attempts++ {
		answer, err := c.attempt(ctx, call)
		var failure *Error
		if !errors.As(err, &failure) {
			return answer, err
		}
		pause, again := c.pause(failure, attempts, call.repeatable())
		if !again {
			return nil, failure
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

func (c *Client) attempt(ctx context.Context, call call) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := c.request(limited, call)
	if err != nil {
		return nil, err
	}
	response, body, err := c.exchange(request)
	switch {
	case err == nil:
		return readAnswer(response, body, call)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case limited.Err() != nil:
		message := fmt.Sprintf("No answer from %s within %s", c.url, c.timeout)
		return nil, &Error{Code: Timeout, Message: message, cause: err}
	default:
		return nil, &Error{Code: NetworkError, Message: "Cannot reach " + c.url, cause: err}
	}
}

func (c *Client) request(ctx context.Context, call call) (*http.Request, error) {
	target := c.url + call.path
	if len(call.query) > 0 {
		target += "?" + call.query.Encode()
	}
	method, body := http.MethodGet, io.Reader(nil)
	if call.body != nil {
		text, err := json.Marshal(call.body)
		if err != nil {
			return nil, err
		}
		method, body = http.MethodPost, bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-API-Key", c.key)
	request.Header.Set("User-Agent", "meridian-go/"+Version)
	if call.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, nil
}

func (c *Client) exchange(request *http.Request) (*http.Response, []byte, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
	return response, body, err
}

func readAnswer(response *http.Response, body []byte, call call) ([]byte, error) {
	isAnswer := response.StatusCode/100 == 2 || (call.mayBeUnknown && response.StatusCode == 404)
	if isAnswer && json.Valid(body) && errorIn(body) == nil {
		return body, nil
	}
	return nil, toError(response, body, time.Now())
}
