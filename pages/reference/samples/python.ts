import { doubleQuoted, pythonValue } from './literal.ts'
import type { SampleRequest } from './request.ts'

const SHOW = {
  json: 'print(response.status, json.load(response))',
  file: 'print(response.status, len(response.read()))',
  nothing: 'print(response.status)',
} as const

/** For the standard library. */
export function pythonSample({ method, url, headers, body, answer }: SampleRequest): string {
  const usesJson = body !== undefined || answer === 'json'
  const given = [
    doubleQuoted(url),
    ...(method === 'GET' ? [] : [`method=${doubleQuoted(method)}`]),
    ...(Object.keys(headers).length === 0 ? [] : [`headers=${pythonValue(headers, '    ')}`]),
    ...(body === undefined ? [] : [`data=json.dumps(${pythonValue(body, '    ')}).encode()`]),
  ]
  return [
    ...(usesJson ? ['import json'] : []),
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    ...given.map((line) => `    ${line},`),
    ')',
    'with urllib.request.urlopen(request) as response:',
    `    ${SHOW[answer]}`,
  ].join('\n')
}
