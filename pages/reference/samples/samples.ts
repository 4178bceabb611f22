import { curlSample } from './curl.ts'
import { goSample } from './go.ts'
import { phpSample } from './php.ts'
import { pythonSample } from './python.ts'
import type { SampleRequest } from './request.ts'
import { typescriptSample } from './typescript.ts'

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
