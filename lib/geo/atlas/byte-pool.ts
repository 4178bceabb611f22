const FIRST_BYTES = 64 * 1024
const FIRST_SLOTS = 4_096

/** Byte strings of up to 65,535 bytes in one growing buffer, each stored once. */
export class BytePool {
  #bytes = Buffer.alloc(FIRST_BYTES)
  #length = 0
  /** Hash table of the strings' offsets plus one; 0: free. Open addressing, at most half full. */
  #slots = new Uint32Array(FIRST_SLOTS)
  #lengths = new Uint16Array(FIRST_SLOTS)
  #count = 0

  /** Returns the offset of the string, and appends it if it is new. */
  add(string: Uint8Array): number {
    if (string.length > 0xffff) throw new Error('a text is too long')
    const slot = this.#findSlot(string)
    const taken = this.#slots[slot] ?? 0
    if (taken > 0) return taken - 1
    const at = this.#append(string)
    this.#slots[slot] = at + 1
    this.#lengths[slot] = string.length
    this.#count += 1
    if (this.#count * 2 > this.#slots.length) this.#growSlots()
    return at
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Returns the slot of the string, or the free one for it. */
  #findSlot(string: Uint8Array): number {
    let slot = hash(string) & (this.#slots.length - 1)
    for (let taken = this.#slots[slot]; taken; taken = this.#slots[slot]) {
      if (this.#isAt(taken - 1, slot, string)) break
      slot = (slot + 1) & (this.#slots.length - 1)
    }
    return slot
  }

  #isAt(at: number, slot: number, string: Uint8Array): boolean {
    if (this.#lengths[slot] !== string.length) return false
    // For strings this short, a call of `compare` takes longer.
    for (let n = 0; n < string.length; n++) if (string[n] !== this.#bytes[at + n]) return false
    return true
  }

  #append(string: Uint8Array): number {
    const at = this.#length
    this.#length += string.length
    if (this.#length > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(this.#length, this.#bytes.length * 2))
      this.#bytes.copy(grown)
      this.#bytes = grown
    }
    this.#bytes.set(string, at)
    return at
  }

  #growSlots(): void {
    const [slots, lengths] = [this.#slots, this.#lengths]
    this.#slots = new Uint32Array(slots.length * 2)
    this.#lengths = new Uint16Array(slots.length * 2)
    for (const [old, taken] of slots.entries()) {
      if (taken === 0) continue
      const length = lengths[old] ?? 0
      const slot = this.#findSlot(this.#bytes.subarray(taken - 1, taken - 1 + length))
      this.#slots[slot] = taken
      this.#lengths[slot] = length
    }
  }
}

/** FNV-1a with a final mix, since the lower bits choose the slot. */
function hash(string: Uint8Array): number {
  let value = 0x811c9dc5
  for (let at = 0; at < string.length; at++) {
    value = Math.imul(value ^ (string[at] ?? 0), 0x01000193)
  }
  return value ^ (value >>> 15)
}
