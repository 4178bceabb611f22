import type { Config } from './config.ts'

const LOOPBACK = /^(127\.|localhost$|::1$|\[::1\]$)/

/** Whether the host of an address is this machine. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host)
}

type Settings = Pick<Config, 'host' | 'baseUrl' | 'trustedProxies' | 'smtpUrl' | 'stripe'>

/** Whether links to this service leave it: in mails, or for the way back from Stripe. */
export function sendsLinks({ smtpUrl, stripe }: Pick<Config, 'smtpUrl' | 'stripe'>): boolean {
  return smtpUrl !== undefined || stripe.secretKey !== undefined
}

/** Why links to this service would lead to an address that users cannot reach; null if they do not. */
export function baseUrlProblem(config: Settings): string | null {
  const { host, baseUrl, trustedProxies } = config
  if (baseUrl !== undefined) return null
  if (!isLoopback(host)) return `HOST is ${host}, but MERIDIAN_BASE_URL is not set`
  if (trustedProxies.length === 0 || !sendsLinks(config)) return null
  return 'MERIDIAN_TRUSTED_PROXIES is set, but MERIDIAN_BASE_URL is not'
}

export const BASE_URL_ADVICE =
  'set it to the public address: links in mail and from Stripe lead there'
