import { explainWrite } from '../../parts/disk-advice.ts'
import { reasonOf } from '../../parts/reason.ts'
import { innermostCause } from './http-request.ts'

/** Why a download to `path` failed: with advice if the disk is full or failing, otherwise the error itself. */
export function reasonOfFailure(path: string, error: unknown): string {
  const cause = innermostCause(error)
  const explained = explainWrite(path, cause)
  return reasonOf(explained === cause ? error : explained)
}
