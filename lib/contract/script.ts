import * as v from 'valibot'
import { UrlText } from './common.ts'
import type { Operation } from './operation.ts'

/** The browser script as it is now; stored by browsers for an hour. */
export const SCRIPT_PATH = '/rum.js'

/** Where a version of the browser script stands, as the router knows it; stored for a year. */
export const PINNED_SCRIPT_PATTERN = '/:file{rum\\.[0-9a-f]{16}\\.js}'

/** Path of the version with this hash, 16 hexadecimal digits. */
export function pinnedScriptPath(hash: string): string {
  return `/rum.${hash}.js`
}

export const ScriptTag = v.pipe(
  v.strictObject({
    src: v.pipe(UrlText, v.description('This version of the script; its content never changes')),
    integrity: v.pipe(v.string(), v.description('Its Subresource Integrity value')),
    snippet: v.pipe(v.string(), v.description('The HTML that goes into the head of each page')),
  }),
  v.description('How a page loads the script that sends beacons'),
)
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
      'The tag loads one version of the script and no other: `/rum.js` is the newest one.',
    access: 'public',
    limit: 'address',
    replies: {
      200: {
        description: 'The tag and its parts',
        schema: ScriptTag,
        example: {
          src: EXAMPLE_SRC,
          integrity: EXAMPLE_INTEGRITY,
          snippet: `<script defer src="${EXAMPLE_SRC}" integrity="${EXAMPLE_INTEGRITY}" crossorigin="anonymous"></script>`,
        },
      },
    },
  },
] as const satisfies readonly Operation[]
