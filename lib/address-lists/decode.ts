const NEWLINE = 10

/** Kept bytes of a line without end are decoded at this length. */
const MAX_KEPT_BYTES = 1_000_000

/**
 * Decodes the bytes of a list: UTF-8, except that lines which are not UTF-8 are read as Windows-1252, so
 * that nothing is lost; UTF-16 if the list begins like it. Keeps a byte order mark.
 */
export async function* decodeList(
  parts: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  let decode: Decode | undefined
  for await (const part of parts) {
    if (part.length === 0) continue
    decode ??= decodeAs(utf16Of(part))
    yield decode(part)
  }
  if (decode !== undefined) yield decode(null)
}

/** `null`: the end of the list. */
type Decode = (part: Uint8Array | null) => string

function decodeAs(utf16: Utf16 | undefined): Decode {
  return utf16 === undefined ? decodeUtf8() : decodeUtf16(utf16)
}

type Utf16 = 'utf-16le' | 'utf-16be'

/** By the byte order mark or, without one, by two characters of ASCII at the start. */
function utf16Of(part: Uint8Array): Utf16 | undefined {
  const [first, second] = part
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  const zeros = [...part.subarray(0, 4)].map((byte) => (byte === 0 ? '0' : 'x')).join('')
  if (zeros === 'x0x0') return 'utf-16le'
  return zeros === '0x0x' ? 'utf-16be' : undefined
}

function decodeUtf16(label: Utf16): Decode {
  const decoder = new TextDecoder(label, { ignoreBOM: true })
  return (part) => (part === null ? decoder.decode() : decoder.decode(part, { stream: true }))
}

/** Decodes up to the last line break, and keeps the bytes after it. */
function decodeUtf8(): Decode {
  let kept = new Uint8Array(0)
  return (part) => {
    const bytes = part === null ? kept : joined(kept, part)
    const whole = part === null || bytes.length > MAX_KEPT_BYTES
    const end = whole ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1
    kept = bytes.slice(end)
    return decodeLines(bytes.subarray(0, end))
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}

function decodeLines(bytes: Uint8Array): string {
  try {
    return utf8(bytes)
  } catch {
    return [...linesOf(bytes)].map(decodeLine).join('')
  }
}

function decodeLine(bytes: Uint8Array): string {
  try {
    return utf8(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

function utf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(NEWLINE, start)
    const end = found < 0 ? bytes.length : found + 1
    yield bytes.subarray(start, end)
    start = end
  }
}
