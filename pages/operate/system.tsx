import type { HealthStatus } from '../../lib/contract/system.ts'
import { Card } from '../dashboard/parts/card.tsx'
import { PostButton } from '../dashboard/parts/form.tsx'
import { count, size } from '../dashboard/parts/format.ts'
import { Notice, type PageProps, Result } from '../dashboard/parts/notice.tsx'
import { Time } from '../dashboard/parts/time.tsx'
import { FactList } from '../fact-list.tsx'
import { labelOf } from '../facts.ts'
import { type DoctorFinding, Findings } from './findings.tsx'
import { JobStatus, type JobView } from './job-status.tsx'

/** Sizes are in bytes. */
export interface SystemFacts {
  readonly health: HealthStatus
  readonly version: string
  readonly interfaceVersion: string
  readonly runtime: string
  readonly memory: {
    readonly process: number
    readonly heap: number
    readonly available: number
    readonly total: number
  }
  readonly disk:
    | { readonly free: number; readonly database: number; readonly log: number }
    | { readonly problem: string }
  readonly dataDir: string
  readonly backupDir: string
  /** The warning about a proxy that is not trusted; null if none was seen. */
  readonly proxyWarning: string | null
  /** Whether Litestream's copy is complete; null: the database is not replicated. */
  readonly copy: Omit<DoctorFinding, 'check'> | null
}

interface SystemProps extends PageProps {
  readonly system: SystemFacts
  /** The latest backups, newest first. */
  readonly backups: readonly { readonly path: string; readonly at: string }[]
  readonly backupCount: number
  readonly backup: JobView
  readonly doctor: JobView
  /** null: the doctor has not run since the start of the server, or failed. */
  readonly findings: readonly DoctorFinding[] | null
  /** The address of the operator; null: no mail server is configured. */
  readonly mail: { readonly to: string } | null
}

const DONE: Readonly<Record<string, string>> = {
  mail: 'The mail server has accepted the test mail: look into your mailbox.',
}

export function System(props: SystemProps) {
  const { base, system, doctor, findings, mail, done = '', error, ...backups } = props
  const path = `${base}/app/operate/system`
  return (
    <>
      <Result error={error} done={DONE[done]} />
      {system.proxyWarning !== null && <Notice kind="error">{system.proxyWarning}</Notice>}
      <Health system={system} />
      <Card id="doctor-title" title="Doctor">
        <p>Checks everything that this server needs, as the command doctor does.</p>
        <PostButton action={`${path}/doctor`} text="Run the doctor" kind="quiet" />
        <JobStatus id="doctor" job={doctor} running="The doctor has been running" done="Last run">
          {findings !== null && <Findings findings={findings} />}
        </JobStatus>
      </Card>
      <Mail path={path} mail={mail} />
      <Backups base={base} system={system} {...backups} />
    </>
  )
}

function Mail({ path, mail }: Pick<SystemProps, 'mail'> & { readonly path: string }) {
  return (
    <Card id="mail" title="Mail">
      {mail === null ? (
        <p>
          This service sends no mail: <code>MERIDIAN_SMTP_URL</code> is not set.
        </p>
      ) : (
        <>
          <p>A test mail to {mail.to} shows what your mail server answers.</p>
          <PostButton action={`${path}/test-mail`} text="Send a test mail" kind="quiet" />
        </>
      )}
    </Card>
  )
}

function Health({ system }: { readonly system: SystemFacts }) {
  const { health, version, interfaceVersion, runtime, memory } = system
  const checks = Object.entries(health.checks)
  return (
    <Card id="health" title="Health">
      <p class="chips">
        <span class={`badge ${health.status === 'ok' ? 'good' : 'error'}`}>
          {labelOf(health.status)}
        </span>
        {checks.map(([name, passes]) => (
          <span class={`badge ${passes ? 'good' : 'error'}`}>
            {labelOf(name)}: {passes ? 'fine' : 'failing'}
          </span>
        ))}
      </p>
      <FactList
        facts={[
          ['Version', `${version}, API ${interfaceVersion}`],
          ['Runtime', runtime],
          ['Uptime', health.uptime],
          ['Memory of the process', `${size(memory.process)}, heap ${size(memory.heap)}`],
          ['Memory of the machine', `${size(memory.available)} available of ${size(memory.total)}`],
          ['Disk', diskText(system.disk)],
          ['Data folder', <code>{system.dataDir}</code>],
        ]}
      />
    </Card>
  )
}

function diskText(disk: SystemFacts['disk']): string {
  if ('problem' in disk) return disk.problem
  const { free, database, log } = disk
  return `${size(free)} free; database ${size(database)}, its log ${size(log)}`
}

type BackupsProps = Pick<SystemProps, 'base' | 'system' | 'backups' | 'backupCount' | 'backup'>

function Backups({ base, system, backups, backupCount, backup }: BackupsProps) {
  return (
    <Card id="backups-title" title="Backups">
      {system.copy === null ? (
        <p>The database is not replicated.</p>
      ) : (
        <Findings findings={[{ check: 'Copy', ...system.copy }]} />
      )}
      <p>An archive holds the database and the secrets: keep copies on another machine.</p>
      <PostButton action={`${base}/app/operate/system/backup`} text="Back up now" kind="quiet" />
      <JobStatus id="backup" job={backup} running="Backing up" done="The last backup ended">
        {backups.length === 0 ? (
          <Notice kind="hint">There is no backup in {system.backupDir}</Notice>
        ) : (
          <>
            <p>Backups in the folder: {count(backupCount)}. The latest:</p>
            <ul class="plain">
              {backups.map(({ path, at }) => (
                <li>
                  <Time at={at} /> <code>{path}</code>
                </li>
              ))}
            </ul>
          </>
        )}
      </JobStatus>
    </Card>
  )
}
