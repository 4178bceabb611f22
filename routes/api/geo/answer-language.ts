import type { Language } from '../../../lib/contract/geo/geolocation.ts'
import { chooseLanguage } from '../../request/negotiate.ts'

interface Asked {
  readonly lang?: Language | 'auto' | undefined
}

/**
 * Replaces `auto` by the language that the header asks for. Then the answer says so in `headers`; no cache may keep it,
 * but the headers are right all the same (RFC 9110, sections 8.5 and 12.5.5).
 */
export function withLanguage<Options extends Asked>(
  options: Options,
  acceptLanguage: string | undefined,
) {
  const { lang } = options
  if (lang !== 'auto') return { options: { ...options, lang }, headers: {} } as const
  const chosen = chooseLanguage(acceptLanguage)
  const headers = { 'content-language': chosen, vary: 'Accept-Language' }
  return { options: { ...options, lang: chosen }, headers } as const
}
