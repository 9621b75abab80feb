import { Button } from '@radix-ui/themes'
import { plural } from '../kit/words.ts'
import { useConnection } from '../live/data.ts'

/** Shown if the page may be outdated. */
export function ConnectionBar() {
  const connection = useConnection()
  if (connection === 'signed-out')
    return (
      <div className="connection" role="alert">
        This browser is signed out. <a href="/sign-in?why=ended">Sign in again</a>
      </div>
    )
  if (connection === 'no-role')
    return (
      <div className="connection" role="alert">
        You are signed in, but you have no role in this fleet. Ask its owner for one.
      </div>
    )
  if (connection === 'lost')
    return (
      <div className="connection" role="alert">
        Connection lost. What you see may be out of date. Reconnecting…
      </div>
    )
  return null
}

/** Says that the fleet is paused. Otherwise it would look stuck. */
export const PausedBar = ({ unpause }: { unpause: (() => void) | undefined }) => (
  <div className="connection" role="status">
    The fleet is paused. Running agents continue; nothing new starts.{' '}
    {unpause && (
      <Button size="1" variant="soft" color="amber" highContrast onClick={unpause}>
        Unpause
      </Button>
    )}
  </div>
)

/** Says that lists are not complete. */
export const UnreadableBar = ({ count }: { count: number }) => (
  <div className="connection" role="status">
    {plural(count, 'record')} cannot be read, so lists are incomplete. To repair the store, run{' '}
    <code>fleet doctor</code> on the machine of the server.
  </div>
)
