import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'

/** Something that is known about a connection until it is let go. */
export interface PerConnection<Value> {
  readonly get: (socket: Duplex) => Value | undefined
  readonly set: (socket: Duplex, value: Value | undefined) => void
}

const keys: symbol[] = []

/** Returns a place for a value per connection. A WeakMap would burden the garbage collector. */
export function createPerConnection<Value>(): PerConnection<Value> {
  const key = Symbol('per connection')
  keys.push(key)
  // safe: only this function knows the key
  const noted = (socket: Duplex) => socket as { [key]?: Value | undefined }
  return {
    get: (socket) => noted(socket)[key],
    set: (socket, value) => {
      noted(socket)[key] = value
    },
  }
}

/**
 * Lets go of everything that a closed connection refers to. Otherwise it stays until the next collection of the
 * whole heap, which has to come much earlier: V8 gives functions that are assigned to a property, such as
 * `onwrite` of each writable stream, to its old generation at once, and what these refer to stays with them.
 */
export function letGo(socket: Duplex): void {
  for (const key of keys) Reflect.set(socket, key, undefined)
  // The method of streams would look at the socket again in the next tick.
  EventEmitter.prototype.removeAllListeners.call(socket)
}
