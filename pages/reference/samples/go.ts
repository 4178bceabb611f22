import { doubleQuoted, goQuoted } from './literal.ts'
import type { SampleRequest } from './request.ts'

const CHECK = ['if err != nil {', '\tlog.Fatal(err)', '}']

/** For net/http. */
export function goSample({ method, url, headers, body }: SampleRequest): string {
  const packages = ['fmt', 'io', 'log', 'net/http', ...(body === undefined ? [] : ['strings'])]
  const sent = body === undefined ? 'nil' : 'body'
  const statements = [
    ...(body === undefined
      ? []
      : [`body := strings.NewReader(${goQuoted(JSON.stringify(body, null, 2))})`]),
    `request, err := http.NewRequest(${doubleQuoted(method)}, ${doubleQuoted(url)}, ${sent})`,
    ...CHECK,
    ...Object.entries(headers).map(
      ([name, value]) => `request.Header.Set(${doubleQuoted(name)}, ${doubleQuoted(value)})`,
    ),
    'response, err := http.DefaultClient.Do(request)',
    ...CHECK,
    'defer response.Body.Close()',
    ...READ,
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

const READ = [
  'answer, err := io.ReadAll(response.Body)',
  ...CHECK,
  'fmt.Println(response.StatusCode, string(answer))',
]
