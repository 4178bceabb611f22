const FIRST_BYTES = 64 * 1024
const FIRST_SLOTS = 4_096

/** Byte strings of up to 65,535 bytes in one growing piece of memory, each kept once. */
export class BytePool {
  #bytes = Buffer.alloc(FIRST_BYTES)
  #length = 0
  /** Where a string stands, plus one; 0: the slot is free. Open addressing, at most half full. */
  #slots = new Uint32Array(FIRST_SLOTS)
  #lengths = new Uint16Array(FIRST_SLOTS)
  #count = 0

  /** Returns where the string stands, which is at the end if it is new. */
  add(string: Uint8Array): number {
    if (string.length > 0xffff) throw new Error('a text is too long')
    let slot = hash(string) & (this.#slots.length - 1)
    for (let taken = this.#slots[slot]; taken; taken = this.#slots[slot]) {
      if (this.#isAt(taken - 1, slot, string)) return taken - 1
      slot = (slot + 1) & (this.#slots.length - 1)
    }
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

  #isAt(at: number, slot: number, string: Uint8Array): boolean {
    if (this.#lengths[slot] !== string.length) return false
    return this.#bytes.compare(string, 0, string.length, at, at + string.length) === 0
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
      const string = this.#bytes.subarray(taken - 1, taken - 1 + length)
      let slot = hash(string) & (this.#slots.length - 1)
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1)
      this.#slots[slot] = taken
      this.#lengths[slot] = length
    }
  }
}

/** FNV-1a with a last mix, since the lower bits choose the slot. */
function hash(string: Uint8Array): number {
  let value = 0x811c9dc5
  for (let at = 0; at < string.length; at++) {
    value = Math.imul(value ^ (string[at] ?? 0), 0x01000193)
  }
  return value ^ (value >>> 15)
}
