package meridian

import "meridian/generated"

// Results have nil where a value is absent.
type (
	// GeolocationResult is what is known about an address.
	GeolocationResult = generated.GeolocationResult
	// Location is where an address is, as precisely as it is known.
	Location = generated.Location
	// Network is who runs the network of an address.
	Network = generated.GeolocationResult_Network
	// AddressSummary is how many addresses are where.
	AddressSummary = generated.AddressSummary
	// AutonomousSystem is the owner of networks, and a page of them.
	AutonomousSystem = generated.AutonomousSystem
	// UsageStats are the requests of an account.
	UsageStats = generated.UsageStats
)
