import { Button } from '@radix-ui/themes'
import { plural } from '../kit/words.ts'
import { useConnection } from '../live/data.ts'

/** Shown if the page may be outdated. */
export function ConnectionBar() {
  const connection = useConnection()
  if (connection === 'signed-out')
    return (
      <div className="connection" role="alert">
        This browser is no longer signed in. <a href="/sign-in?why=ended">Sign in again</a>, or open the link that{' '}
        <code>fleet up --detach</code> prints.
      </div>
    )
  if (connection === 'lost')
    return (
      <div className="connection" role="alert">
        The server does not answer. What you see may be outdated. Retrying… If it was stopped: <code>fleet up</code>
      </div>
    )
  return null
}

/** Says that the fleet is paused. Otherwise it would look stuck. */
export const PausedBar = ({ unpause }: { unpause(): void }) => (
  <div className="connection" role="status">
    The fleet is paused. Running agents continue; nothing new starts.{' '}
    <Button size="1" variant="soft" color="amber" highContrast onClick={unpause}>
      Unpause
    </Button>
  </div>
)

/** Says that lists are not complete. */
export const UnreadableBar = ({ count }: { count: number }) => (
  <div className="connection" role="status">
    {plural(count, 'record')} in the store cannot be read, and no list shows {count === 1 ? 'it' : 'them'}. What to do:{' '}
    <code>fleet doctor</code>
  </div>
)
