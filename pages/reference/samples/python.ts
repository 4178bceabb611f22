import { doubleQuoted, pythonValue } from './literal.ts'
import type { SampleRequest } from './request.ts'

const SHOW = {
  json: ['print(response.status, json.load(response))'],
  file: [
    'content = response.read()',
    'print(response.status, len(content) if response.status == 200 else content.decode())',
  ],
  nothing: ['print(response.status, response.read().decode())'],
} as const

/** For the standard library, which raises an exception for all answers but 2xx. */
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
    'import urllib.error',
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    ...given.map((line) => `    ${line},`),
    ')',
    'try:',
    '    response = urllib.request.urlopen(request)',
    'except urllib.error.HTTPError as error:',
    '    response = error',
    'with response:',
    ...SHOW[answer].map((line) => `    ${line}`),
  ].join('\n')
}
