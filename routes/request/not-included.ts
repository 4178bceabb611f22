import { type Asked, listNotServed } from '../../lib/geo/answer/shape.ts'
import type { Services } from '../../lib/services/services.ts'

/** Without `config`: for requests that cannot include hostnames. */
interface Parts {
  readonly geo: Pick<Services['geo'], 'list'>
  readonly config?: Pick<Services['config'], 'hostnames'>
}

/**
 * Names in a header what the caller asks for and this server never answers. The body cannot show that: a
 * field without a value is absent, too.
 */
export function notIncluded({ geo, config }: Parts, asked: Pick<Asked, 'fields' | 'include'>) {
  if (asked.include === undefined && asked.fields === undefined) return undefined
  const hasHostnames = config?.hostnames !== undefined
  const hasPrivacy = geo.list().some(({ subject }) => subject === 'privacy')
  const missing = listNotServed(asked, { hasPrivacy, hasHostnames })
  return missing.length === 0 ? undefined : { headers: { 'not-included': missing.join(', ') } }
}
