import { BASE_URL_ADVICE, baseUrlProblem, isLoopback } from '../config/base-url-problem.ts'
import type { Config } from '../config/config.ts'
import { readPlans } from '../config/plans.ts'
import { PROXY_ADVICE, proxyProblem, recallProxy } from '../config/seen-proxy.ts'
import { parseAddress } from '../parts/net/address.ts'
import { contains } from '../parts/net/network.ts'
import { type Finding, ok, warning, wrongIfThrows } from './finding.ts'

/** Finds settings that are valid one by one, but not together. */
export function checkConfig(config: Config): Finding[] {
  const findings = [...plans(config), ...address(config), ...mail(config), ...proxy(config)]
  return findings.length > 0 ? findings : [ok('The settings fit together')]
}

function plans({ plansFile }: Config): Finding[] {
  return wrongIfThrows(
    () => readPlans(plansFile),
    'repair the file, or name another one in MERIDIAN_PLANS',
  )
}

function address(config: Config): Finding[] {
  const { baseUrl } = config
  const problem = baseUrlProblem(config)
  if (problem !== null) return [warning(problem, BASE_URL_ADVICE)]
  if (baseUrl === undefined) return []
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol === 'https:' || isLoopback(hostname)) return []
  return [warning(`${baseUrl} is not encrypted`, 'put a proxy that speaks TLS in front')]
}

function mail({ smtpUrl, authUrl, allowSignUp }: Config): Finding[] {
  if (smtpUrl !== undefined || authUrl !== undefined || !allowSignUp) return []
  const text =
    'MERIDIAN_SMTP_URL is not set: users cannot verify an e-mail address or reset a password'
  return [warning(text, 'set it, or MERIDIAN_SIGN_UP=closed')]
}

/** What the server has seen no longer matters once the settings trust the proxy. */
function proxy({ dataDir, trustedProxies, clientHeader }: Config): Finding[] {
  const seen = recallProxy(dataDir)
  const peer = seen && parseAddress(seen.address)
  if (peer === null || seen?.header !== clientHeader) return []
  if (trustedProxies.some((network) => contains(network, peer))) return []
  return [warning(proxyProblem(seen), PROXY_ADVICE)]
}
