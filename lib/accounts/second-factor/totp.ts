import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/* One-time codes of RFC 6238, with the only parameters that all authenticator apps support. */

const STEP_MS = 30_000
const DIGITS = 6
/** RFC 4226, section 4, recommends 160 bits. */
const SECRET_BYTES = 20
/** Clocks differ, and typing takes time: RFC 6238, section 5.2. */
const DRIFT_STEPS = [0, -1, 1]

export function newSecret(): Buffer {
  return randomBytes(SECRET_BYTES)
}

/** Whether the text has the form of a one-time code. Apps show `123 456`. */
export function isTotp(text: string): boolean {
  return /^\s*\d{3}\s*\d{3}\s*$/.test(text)
}

/** The time step of `code`, at most one step from `now`; null if the code is wrong. */
export function findStep(secret: Buffer, code: string, now: number): number | null {
  const current = Math.floor(now / STEP_MS)
  const given = Buffer.from(code.replaceAll(/\s/g, ''))
  const isRight = (step: number) => {
    const right = Buffer.from(totp(secret, step))
    return given.length === right.length && timingSafeEqual(given, right)
  }
  return DRIFT_STEPS.map((drift) => current + drift).find(isRight) ?? null
}

/** RFC 4226, section 5.3. */
function totp(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = mac.readUInt8(mac.length - 1) & 0x0f
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The form in which apps take secrets: RFC 4648, section 6, without padding. */
export function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => BASE32.charAt(Number.parseInt(group.padEnd(5, '0'), 2)))
    .join('')
}

interface SecretLabel {
  /** The service that issues the secret. Apps show it above the account. */
  readonly issuer: string
  readonly account: string
}

/** The text of the QR code for an app: https://github.com/google/google-authenticator/wiki/Key-Uri-Format */
export function toUri(secret: Buffer, { issuer, account }: SecretLabel): string {
  const label = [issuer, account].map(encodeURIComponent).join(':')
  const query = `secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}`
  return `otpauth://totp/${label}?${query}&digits=${DIGITS}&period=${STEP_MS / 1000}`
}
