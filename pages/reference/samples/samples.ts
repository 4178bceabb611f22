import { doubleQuoted, goQuoted, indented, phpQuoted, pythonValue, shellQuoted } from './literal.ts'
import type { SampleRequest } from './request.ts'

const GO_CHECK = ['if err != nil {', '\tlog.Fatal(err)', '}']

const GO_READ = [
  'answer, err := io.ReadAll(response.Body)',
  ...GO_CHECK,
  'fmt.Println(response.StatusCode, string(answer))',
]

const PYTHON_SHOW = {
  json: ['print(response.status, json.load(response))'],
  file: [
    'content = response.read()',
    'print(response.status, len(content) if response.status == 200 else content.decode())',
  ],
  nothing: ['print(response.status, response.read().decode())'],
} as const

const TYPESCRIPT_SHOW = {
  json: 'console.log(response.status, await response.json())',
  file: 'console.log(response.status, response.ok ? await response.bytes() : await response.text())',
  nothing: 'console.log(response.status, await response.text())',
} as const

/** A program that sends an example request. */
export interface Sample {
  readonly language: (typeof LANGUAGES)[number]['language']
  readonly title: string
  readonly text: string
}

const LANGUAGES = [
  { language: 'curl', title: 'curl', write: curlSample },
  { language: 'typescript', title: 'TypeScript', write: typescriptSample },
  { language: 'python', title: 'Python', write: pythonSample },
  { language: 'go', title: 'Go', write: goSample },
  { language: 'php', title: 'PHP', write: phpSample },
] as const

/** The request in every language. */
export function samplesOf(request: SampleRequest): Sample[] {
  return LANGUAGES.map(({ language, title, write }) => ({ language, title, text: write(request) }))
}

function curlSample({ method, url, headers, body, answer }: SampleRequest): string {
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

/** For fetch, which browsers and Node.js have. */
function typescriptSample({ method, url, headers, body, answer }: SampleRequest): string {
  const options = [
    ...(method === 'GET' ? [] : [`method: ${doubleQuoted(method)},`]),
    ...headerLines(headers),
    ...(body === undefined
      ? []
      : [`body: JSON.stringify(${indented(JSON.stringify(body, null, 2), '  ')}),`]),
  ]
  const given = options.length === 0 ? '' : `, {\n${options.map((line) => `  ${line}\n`).join('')}}`
  return `const response = await fetch(${doubleQuoted(url)}${given})\n${TYPESCRIPT_SHOW[answer]}`
}

function headerLines(headers: SampleRequest['headers']): string[] {
  const entries = Object.entries(headers)
  if (entries.length === 0) return []
  const lines = entries.map(([name, value]) => `${doubleQuoted(name)}: ${doubleQuoted(value)},`)
  return ['headers: {', ...lines.map((line) => `  ${line}`), '},']
}

/** For the standard library, which raises an exception for all answers but 2xx. */
function pythonSample({ method, url, headers, body, answer }: SampleRequest): string {
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
    ...PYTHON_SHOW[answer].map((line) => `    ${line}`),
  ].join('\n')
}

/** For net/http. */
function goSample({ method, url, headers, body }: SampleRequest): string {
  const packages = ['fmt', 'io', 'log', 'net/http', ...(body === undefined ? [] : ['strings'])]
  const sent = body === undefined ? 'nil' : 'body'
  const statements = [
    ...(body === undefined
      ? []
      : [`body := strings.NewReader(${goQuoted(JSON.stringify(body, null, 2))})`]),
    `request, err := http.NewRequest(${doubleQuoted(method)}, ${doubleQuoted(url)}, ${sent})`,
    ...GO_CHECK,
    ...Object.entries(headers).map(
      ([name, value]) => `request.Header.Set(${doubleQuoted(name)}, ${doubleQuoted(value)})`,
    ),
    'response, err := http.DefaultClient.Do(request)',
    ...GO_CHECK,
    'defer response.Body.Close()',
    ...GO_READ,
  ]
  return [
    'package main',
    '',
    'import (',
    ...packages.map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    ...statements.map((line) => `\t${line}`),
    '}',
  ].join('\n')
}

/** For the extension curl. */
function phpSample({ method, url, headers, body }: SampleRequest): string {
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
