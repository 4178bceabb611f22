import { Fold } from '../parts/fold.tsx'
import { PostButton } from '../parts/form.tsx'

interface MailsProps {
  /** Builds the target of a form: a path below that of the page. */
  readonly actionOf: (path: string) => string
  /** `impossible`: this server sends no mail. */
  readonly mails: 'on' | 'off' | 'impossible'
  /** With fewer views of a day, a kind of device is not judged. */
  readonly minViews: number
}

const GLANCES: Readonly<Record<MailsProps['mails'], string>> = {
  on: 'On',
  off: 'Off',
  impossible: 'Not available',
}

/** Turns the mails on and off that say when a metric turns poor. */
export function Mails({ actionOf, mails, minViews }: MailsProps) {
  return (
    <Fold id="mails" title="Mails" glance={GLANCES[mails]}>
      <p>
        One mail when LCP, INP or CLS turns poor on phones or desktops: at the 75th percentile of a
        whole day (UTC) with at least {minViews} views on that kind of device, judged an hour after
        its end. The next mail about it comes only after a day that was not poor.
      </p>
      {mails === 'impossible' && <p>This server sends no mail.</p>}
      {mails === 'off' && (
        <PostButton
          action={actionOf('/mails')}
          text="Mail me when a metric turns poor"
          field={{ name: 'mails', value: 'on' }}
        />
      )}
      {mails === 'on' && (
        <PostButton
          action={actionOf('/mails')}
          text="Turn off"
          kind="quiet"
          label="Turn off mails about poor metrics"
          field={{ name: 'mails', value: 'off' }}
        />
      )}
    </Fold>
  )
}
