import { ownText } from '../../parts/own-text.ts'
import { hashKey, isKeyText } from '../api-key.ts'
import type { KeyRecord } from './key-records.ts'

/** Finds keys by their texts. `find` finds them by their hashes. */
export function createFindKey(find: (hash: string) => KeyRecord | undefined) {
  // Holds only known keys. Finding a text here is faster than checking and hashing it.
  let byText = new Map<string, KeyRecord>()
  const findByHash = (text: string) => {
    if (!isKeyText(text)) return undefined
    const key = find(hashKey(text))
    if (key !== undefined) byText.set(ownText(text), key)
    return key
  }
  const listeners: (() => void)[] = []
  return {
    /** Calls the listener whenever keys have changed, before the change is answered. */
    onChange: (listener: () => void) => {
      listeners.push(listener)
    },
    /** The record of the key; null if it is unknown or has expired at `now`. */
    find: (text: string, now: number): KeyRecord | null => {
      const key = byText.get(text) ?? findByHash(text)
      return key === undefined || (key.expiresAt !== null && key.expiresAt <= now) ? null : key
    },
    /** Forgets the texts, since keys have changed. */
    forgetTexts: () => {
      byText = new Map()
      for (const listener of listeners) listener()
    },
  }
}
