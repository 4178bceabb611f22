package meridian

import (
	"container/list"
	"encoding/json"
	"net/netip"
	"sync"
	"time"
)

// knownAnswers keeps the answers of up to size networks for ttl; the least recently used go first. For
// that it asks for network.prefix, and hides it from callers who do not. Goroutines may share it.
type knownAnswers struct {
	size int
	ttl  time.Duration

	mutex   sync.Mutex
	entries map[networkAsked]*list.Element
	// recent has the values of entries, the most recently used first.
	recent *list.List
	// lengths are the lengths of kept networks, of both versions.
	lengths map[int]struct{}
}

// networkAsked is a network, and what was asked about it.
type networkAsked struct {
	network netip.Prefix
	kind    string
}

type knownAnswer struct {
	networkAsked
	// answer is JSON, decoded for each caller, who may change the result.
	answer  []byte
	expires time.Time
}

func newKnownAnswers(size int, ttl time.Duration) *knownAnswers {
	return &knownAnswers{
		size:    size,
		ttl:     ttl,
		entries: map[networkAsked]*list.Element{},
		recent:  list.New(),
		lengths: map[int]struct{}{},
	}
}

// toAsk returns what to ask of the service, so that the answer can be kept.
func (k *knownAnswers) toAsk(asked lookUp) lookUp {
	if !k.keeps(asked) {
		return asked
	}
	return asked.withPrefix()
}

// find returns a result as if the service had answered; nil: no answer is known.
func (k *knownAnswers) find(address netip.Addr, asked lookUp) *GeolocationResult {
	answer := k.get(address, asked.kind())
	if answer == nil {
		return nil
	}
	result, err := present(answer, asked)
	if err != nil {
		return nil
	}
	if result.Query != nil && result.Query.Value != "" {
		result.Query.Value = address.String()
	}
	return result
}

// keep keeps the service's answer to toAsk(asked), if other addresses have the same.
func (k *knownAnswers) keep(address netip.Addr, asked lookUp, answer []byte) {
	var result GeolocationResult
	if !k.keeps(asked) || json.Unmarshal(answer, &result) != nil || result.Network == nil {
		return
	}
	// Over the monthly cap, answers lack fields that they have again next month.
	if result.Meta != nil && result.Meta.Degraded != nil && *result.Meta.Degraded {
		return
	}
	if result.Network.Prefix == nil {
		return
	}
	network, err := netip.ParsePrefix(*result.Network.Prefix)
	if err != nil || !network.Contains(address) {
		return
	}
	k.put(knownAnswer{networkAsked{network.Masked(), asked.kind()}, answer, time.Now().Add(k.ttl)})
}

// keeps is false for hostnames, which differ within a network.
func (k *knownAnswers) keeps(asked lookUp) bool {
	return k.size > 0 && !asked.has("hostname")
}

func (k *knownAnswers) get(address netip.Addr, kind string) []byte {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	for length := range k.lengths {
		network, err := address.Prefix(length)
		if err != nil {
			continue
		}
		element := k.entries[networkAsked{network, kind}]
		if element == nil {
			continue
		}
		known := element.Value.(knownAnswer)
		if time.Now().Before(known.expires) {
			k.recent.MoveToFront(element)
			return known.answer
		}
		k.drop(element)
	}
	return nil
}

func (k *knownAnswers) put(known knownAnswer) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if old := k.entries[known.networkAsked]; old != nil {
		k.drop(old)
	}
	k.lengths[known.network.Bits()] = struct{}{}
	k.entries[known.networkAsked] = k.recent.PushFront(known)
	if k.recent.Len() > k.size {
		k.drop(k.recent.Back())
	}
}

func (k *knownAnswers) drop(element *list.Element) {
	known := k.recent.Remove(element).(knownAnswer)
	delete(k.entries, known.networkAsked)
}

// present returns the service's answer with only what the caller asked for.
func present(answer []byte, asked lookUp) (*GeolocationResult, error) {
	var result GeolocationResult
	if err := json.Unmarshal(answer, &result); err != nil {
		return nil, unreadable(err)
	}
	if result.Network != nil && !asked.keepsPrefix() {
		result.Network.Prefix = nil
		if *result.Network == (Network{}) {
			result.Network = nil
		}
	}
	return &result, nil
}
