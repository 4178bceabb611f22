import { Field } from '../parts/field.tsx'
import { Confirm } from '../parts/form.tsx'
import { Block } from '../parts/group.tsx'
import type { PageProps } from '../parts/notice.tsx'
import { CurrentPassword, OwnerCode } from './fields.tsx'

export function ExportBlock({ base }: { base: string }) {
  return (
    <Block id="export-title" title="Export">
      <p>
        An archive of JSON files with everything that is stored about this account: profile, keys
        without their text, sites, usage, telemetry, billing and audit log.
      </p>
      <p>
        <a class="button quiet" href={`${base}/app/account/export`}>
          Download your data
        </a>
      </p>
    </Block>
  )
}

interface DeleteProps extends Pick<PageProps, 'base' | 'problem'> {
  readonly asksCode: boolean
}

export function DeleteBlock({ base, asksCode, problem }: DeleteProps) {
  return (
    <Block id="delete-title" title="Delete account">
      <p>
        This deletes your keys, sites and all data for good, and ends your subscription at once
        without a refund.
      </p>
      <Confirm
        action={`${base}/app/account/delete`}
        summary="Delete this account…"
        text="Delete for good"
        isOpen={problem?.field.startsWith('delete')}
      >
        <Field
          name="deleteEmail"
          label="Type your e-mail address to confirm"
          type="email"
          autocomplete="off"
          problem={problem}
          required
        />
        <CurrentPassword name="deletePassword" label="Your password" problem={problem} />
        {asksCode && <OwnerCode name="deleteCode" problem={problem} />}
      </Confirm>
    </Block>
  )
}
