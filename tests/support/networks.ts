import assert from 'node:assert/strict'
import { type Address, parseAddress } from '../../lib/parts/net/address.ts'
import { type Network, parseNetwork } from '../../lib/parts/net/network.ts'

export function addressOf(text: string): Address {
  return parseAddress(text) ?? assert.fail(text)
}

export function networkOf(text: string): Network {
  return parseNetwork(text) ?? assert.fail(text)
}
