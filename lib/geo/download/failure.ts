import { explainWrite } from '../../disk-advice.ts'
import { reasonOf } from '../../reason.ts'
import { innermostCause } from './http-request.ts'

/** Why a download to `path` failed: the advice for a full or failing disk, or else what the error says. */
export function reasonOfFailure(path: string, error: unknown): string {
  const cause = innermostCause(error)
  const explained = explainWrite(path, cause)
  return reasonOf(explained === cause ? error : explained)
}
