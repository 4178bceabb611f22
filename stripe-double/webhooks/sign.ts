import { createHmac } from 'node:crypto'

/** The `Stripe-Signature` over the raw body: one v1 for each secret that holds. */
export function signatureHeader(
  body: string,
  secrets: readonly string[],
  nowSeconds: number,
): string {
  const signed = `${nowSeconds}.${body}`
  const signatures = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`,
  )
  return [`t=${nowSeconds}`, ...signatures].join(',')
}
