import { Card } from '../parts/card.tsx'
import { Field } from '../parts/field.tsx'
import { Confirm } from '../parts/form.tsx'
import { CurrentPassword, OwnerCode } from './fields.tsx'

export function ExportCard({ base }: { base: string }) {
  return (
    <Card id="export-title" title="Your data">
      <p>
        An archive of JSON files with everything that is stored about this account: profile, keys
        without their text, sites, usage, telemetry, billing and audit log.
      </p>
      <p>
        <a href={`${base}/app/account/export`}>Download your data</a>
      </p>
    </Card>
  )
}

export function DeleteCard({ base, asksCode }: { base: string; asksCode: boolean }) {
  return (
    <Card id="delete-title" title="Delete account">
      <p>
        This deletes your keys, sites and all data for good, and ends your subscription at once
        without a refund.
      </p>
      <Confirm
        action={`${base}/app/account/delete`}
        summary="Delete this account"
        text="Delete for good"
      >
        <Field
          name="deleteEmail"
          label="Type your e-mail address to confirm"
          type="email"
          autocomplete="off"
          required
        />
        <CurrentPassword name="deletePassword" label="Your password" />
        {asksCode && <OwnerCode name="deleteCode" />}
      </Confirm>
    </Card>
  )
}
