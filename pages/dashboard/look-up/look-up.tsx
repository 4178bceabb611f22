import { Answer, type MapHrefs } from '../../answer.tsx'
import { LookUpForm } from '../../look-up-form.tsx'
import type { Outcome } from '../../outcome.tsx'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'

interface LookUpProps extends PageProps {
  readonly maps: MapHrefs
  /** The typed address; empty if none. */
  readonly typed: string
  /** null if nothing was looked up, or the API answered with an error. */
  readonly outcome: Outcome | null
}

export function LookUp({ base, maps, typed, outcome, error }: LookUpProps) {
  return (
    <>
      <Result error={error} />
      <div>
        <LookUpForm
          base={base}
          action={`${base}/app/look-up`}
          typed={typed}
          isInvalid={outcome?.kind === 'invalid'}
          demoKey={null}
        />
        <p class="hint">
          Each look-up counts as one request of your plan.{' '}
          <a href={`${base}/app/batch`}>Look up many addresses at once</a>
        </p>
      </div>
      {outcome !== null && <Looked base={base} maps={maps} outcome={outcome} />}
    </>
  )
}

interface LookedProps extends Pick<LookUpProps, 'base' | 'maps'> {
  readonly outcome: Outcome
}

function Looked({ base, maps, outcome }: LookedProps) {
  const isDegraded = outcome.kind === 'located' && outcome.result.meta?.degraded === true
  return (
    <>
      {isDegraded && (
        <Notice kind="hint">
          You have used all requests of this period, so this result contains only the country.{' '}
          <a href={`${base}/app/billing`}>See plans and billing</a>.
        </Notice>
      )}
      <Answer maps={maps} outcome={outcome} isOwn={false} />
    </>
  )
}
