import { Answer } from '../../answer.tsx'
import { LookUpForm } from '../../look-up-form.tsx'
import type { Outcome } from '../../outcome.tsx'
import { Notice, type PageProps, Result } from '../parts/notice.tsx'

interface LookUpProps extends PageProps {
  /** Address of the world map image. */
  readonly world: string
  /** The typed address; empty if none. */
  readonly typed: string
  /** null if nothing was looked up, or the API answered with an error. */
  readonly outcome: Outcome | null
}

export function LookUp({ base, world, typed, outcome, error }: LookUpProps) {
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
      {outcome !== null && <Looked base={base} world={world} outcome={outcome} />}
    </>
  )
}

function Looked({ base, world, outcome }: { base: string; world: string; outcome: Outcome }) {
  const isDegraded = outcome.kind === 'located' && outcome.result.meta?.degraded === true
  return (
    <>
      {isDegraded && (
        <Notice kind="hint">
          You have used all requests of this period, so this result contains only the country.{' '}
          <a href={`${base}/app/billing`}>See plans and billing</a>.
        </Notice>
      )}
      <Answer world={world} outcome={outcome} isOwn={false} />
    </>
  )
}
