/** What a check has found out. */
export type Finding =
  | { readonly state: 'ok'; readonly text: string }
  | {
      /** `wrong`: something does not work, or soon will not. */
      readonly state: 'warning' | 'wrong'
      readonly text: string
      /** What to do about it. */
      readonly advice: string
    }

/** One line of what `npm run doctor` looks at. */
export interface Check {
  readonly name: string
  find(): Promise<Finding[]>
}

export const ok = (text: string): Finding => ({ state: 'ok', text })

export const warning = (text: string, advice: string): Finding => ({
  state: 'warning',
  text,
  advice,
})

export const wrong = (text: string, advice: string): Finding => ({ state: 'wrong', text, advice })

/** What a check finds; one that fails has found that. */
export async function findAll({ find }: Check): Promise<Finding[]> {
  try {
    return await find()
  } catch (error) {
    return [wrong(reasonOf(error), 'see to what the message says')]
  }
}

/** What an error says; some say only a code. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message === '' && 'code' in error ? String(error.code) : error.message
}
