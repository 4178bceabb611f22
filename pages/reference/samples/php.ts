import { phpQuoted } from './literal.ts'
import type { SampleRequest } from './request.ts'

/** For the extension curl. */
export function phpSample({ method, url, headers, body }: SampleRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => phpQuoted(`${name}: ${value}`))
  const options = [
    ...(method === 'GET' ? [] : [`CURLOPT_CUSTOMREQUEST => ${phpQuoted(method)}`]),
    ...(lines.length === 0 ? [] : [`CURLOPT_HTTPHEADER => [${lines.join(', ')}]`]),
    ...(body === undefined
      ? []
      : [`CURLOPT_POSTFIELDS => ${phpQuoted(JSON.stringify(body, null, 2))}`]),
    'CURLOPT_RETURNTRANSFER => true',
  ]
  return [
    '<?php',
    `$request = curl_init(${phpQuoted(url)});`,
    'curl_setopt_array($request, [',
    ...options.map((option) => `    ${option},`),
    ']);',
    '$answer = curl_exec($request);',
    'if ($answer === false) {',
    '    throw new RuntimeException(curl_error($request));',
    '}',
    "echo curl_getinfo($request, CURLINFO_RESPONSE_CODE), ' ', $answer, PHP_EOL;",
  ].join('\n')
}
