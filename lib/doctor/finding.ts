import { reasonOf } from '../parts/reason.ts'

/** A result of a check. */
export type Finding =
  | { readonly state: 'ok'; readonly text: string }
  | {
      /** `wrong` means that something fails, or soon will. */
      readonly state: 'warning' | 'wrong'
      readonly text: string
      /** What to do about it. */
      readonly advice: string
    }

/** A finding with the name of its check, as `npm run doctor -- --json` lists it. */
export type NamedFinding = Finding & { readonly check: string }

/** One of the checks of `npm run doctor`. */
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

/** Returns no finding if `work` succeeds, otherwise its error with the advice. */
export function wrongIfThrows(work: () => unknown, advice: string): Finding[] {
  try {
    work()
    return []
  } catch (error) {
    return [wrong(reasonOf(error), advice)]
  }
}

/** Runs a check. If the check throws, the error is its finding. */
export async function runCheck({ find }: Check): Promise<Finding[]> {
  try {
    return await find()
  } catch (error) {
    return [wrong(reasonOf(error), 'the message says why this check failed')]
  }
}
