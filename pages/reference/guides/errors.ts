import { meaningOf } from '../../../lib/openapi/errors.ts'
import { ERROR_STATUS, type ErrorCode } from '../../../lib/parts/errors.ts'
import type { Block } from './block.ts'

const EXAMPLE = {
  error: {
    code: 'BAD_REQUEST',
    message: 'limit: must be a whole number from 1 to 1000',
    field: 'limit',
    documentation: 'https://geo.example/docs/operations/getAutonomousSystem',
  },
  meta: { requestId: '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01' },
}

export function errorGuide(): Block[] {
  // safe: the keys of a const table
  const codes = Object.keys(ERROR_STATUS) as ErrorCode[]
  return [
    'Every error has the same form. Branch on `code`, which is stable; `message` is for people and may change. `field` is the part of the query, body or path that is wrong, where there is one, and `documentation` the page of this reference about the operation. `requestId` is also in the header `X-Request-Id` of every answer: name it when you ask the operator.',
    { code: JSON.stringify(EXAMPLE, null, 2) },
    'If nothing is known about a valid address, that is not an error: the status is 404, and the body is a result without `location`.',
    { heading: 'What to do' },
    {
      list: [
        '400 to 404, 413 and 415: fix the request: `field` is what is wrong.',
        '429 and 503: wait for the seconds in `Retry-After`, if it is there, then try again. See [limits](/docs/guides/limits).',
        '500: a fault of the service. Trying again seldom helps.',
      ],
    },
    { heading: 'All codes' },
    {
      heads: ['Code', 'Status', 'Meaning'],
      rows: codes.map((code) => [`\`${code}\``, String(ERROR_STATUS[code]), meaningOf(code)]),
    },
  ]
}
