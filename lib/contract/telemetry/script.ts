import * as v from 'valibot'
import { strictObject, UrlText } from '../common.ts'
import { type Operation, ok } from '../operation.ts'

/** The current browser script, which browsers cache for an hour. */
export const SCRIPT_PATH = '/rum.js'

/** The router's pattern for versions of the browser script, which browsers cache for a year. */
export const PINNED_SCRIPT_PATTERN = '/:file{rum\\.[0-9a-f]{16}\\.js}'

/** The path of a version. Its hash has 16 hexadecimal digits. */
export function pinnedScriptPath(hash: string): string {
  return `/rum.${hash}.js`
}

export const ScriptTag = strictObject('How a page loads the script that sends beacons', {
  src: v.pipe(UrlText, v.description('This version of the script; its content never changes')),
  integrity: v.pipe(v.string(), v.description('Its Subresource Integrity value')),
  snippet: v.pipe(v.string(), v.description('The HTML that goes into the head of each page')),
})
export type ScriptTag = v.InferOutput<typeof ScriptTag>

const EXAMPLE_SRC = `https://geo.example${pinnedScriptPath('0123456789abcdef')}`
const EXAMPLE_INTEGRITY = 'sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC'

export const scriptOperations = [
  {
    id: 'getScriptTag',
    method: 'get',
    path: '/rum.json',
    tag: 'Telemetry',
    summary: 'The script tag that sends beacons',
    description:
      'The tag loads exactly this version of the script. `/rum.js` always serves the newest one.',
    access: 'public',
    limit: 'address',
    replies: ok('The tag and its parts', ScriptTag, {
      src: EXAMPLE_SRC,
      integrity: EXAMPLE_INTEGRITY,
      snippet: `<script defer src="${EXAMPLE_SRC}" integrity="${EXAMPLE_INTEGRITY}" crossorigin="anonymous"></script>`,
    }),
  },
] as const satisfies readonly Operation[]
