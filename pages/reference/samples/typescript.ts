import { doubleQuoted, indented } from './literal.ts'
import type { SampleRequest } from './request.ts'

const SHOW = {
  json: 'console.log(response.status, await response.json())',
  file: 'console.log(response.status, response.ok ? await response.bytes() : await response.text())',
  nothing: 'console.log(response.status, await response.text())',
} as const

/** For fetch, which browsers and Node.js have. */
export function typescriptSample({ method, url, headers, body, answer }: SampleRequest): string {
  const options = [
    ...(method === 'GET' ? [] : [`method: ${doubleQuoted(method)},`]),
    ...headerLines(headers),
    ...(body === undefined
      ? []
      : [`body: JSON.stringify(${indented(JSON.stringify(body, null, 2), '  ')}),`]),
  ]
  const given = options.length === 0 ? '' : `, {\n${options.map((line) => `  ${line}\n`).join('')}}`
  return `const response = await fetch(${doubleQuoted(url)}${given})\n${SHOW[answer]}`
}

function headerLines(headers: SampleRequest['headers']): string[] {
  const entries = Object.entries(headers)
  if (entries.length === 0) return []
  const lines = entries.map(([name, value]) => `${doubleQuoted(name)}: ${doubleQuoted(value)},`)
  return ['headers: {', ...lines.map((line) => `  ${line}`), '},']
}
