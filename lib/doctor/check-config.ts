import type { Config } from '../config.ts'
import { readPlans } from '../plans.ts'
import { type Finding, ok, reasonOf, warning, wrong } from './finding.ts'

const LOOPBACK = /^(127\.|localhost$|::1$|\[::1\]$)/

/** Settings that are valid each, but do not go together. */
export function checkConfig(config: Config): Finding[] {
  const findings = [...plans(config), ...address(config), ...mail(config)]
  return findings.length > 0 ? findings : [ok('The settings go together')]
}

function plans({ plansFile }: Config): Finding[] {
  try {
    readPlans(plansFile)
    return []
  } catch (error) {
    return [wrong(reasonOf(error), 'repair the file that MERIDIAN_PLANS names')]
  }
}

function address({ host, baseUrl }: Config): Finding[] {
  if (baseUrl === undefined) {
    if (LOOPBACK.test(host)) return []
    const text = `HOST is ${host}, but MERIDIAN_BASE_URL is not set`
    return [warning(text, 'set it to the public address: links in mail lead there')]
  }
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return []
  return [warning(`${baseUrl} is not encrypted`, 'put a proxy that speaks TLS in front')]
}

function mail({ smtpUrl, authUrl, allowSignUp }: Config): Finding[] {
  if (smtpUrl !== undefined || authUrl !== undefined || !allowSignUp) return []
  const text = 'MERIDIAN_SMTP_URL is not set: no e-mail address is verified, no password reset'
  return [warning(text, 'set it, or MERIDIAN_SIGN_UP=closed')]
}
