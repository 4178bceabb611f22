import { shellQuoted } from './literal.ts'
import type { SampleRequest } from './request.ts'

export function curlSample({ method, url, headers, body, answer }: SampleRequest): string {
  const isUsual = method === (body === undefined ? 'GET' : 'POST')
  return [
    `curl ${shellQuoted(url)}`,
    ...(isUsual ? [] : [`-X ${method}`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${shellQuoted(JSON.stringify(body, null, 2))}`]),
    // An error is written to the file, too.
    ...(answer === 'file' ? ['--fail-with-body', '-o export.tar.gz || cat export.tar.gz'] : []),
  ].join(' \\\n  ')
}
