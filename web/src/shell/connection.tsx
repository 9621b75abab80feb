import { Button } from '@radix-ui/themes'
import { plural } from '../kit/words.ts'
import { useConnection } from '../live/data.ts'

/** Says when what is shown may no longer be how it is. Nothing is said while all is well. */
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
        The server does not answer; what you see may be old. Trying again… If it was stopped: <code>fleet up</code>
      </div>
    )
  return null
}

/** A fleet that starts nothing looks like one that is stuck, unless it says so. */
export const PausedBar = ({ unpause }: { unpause(): void }) => (
  <div className="connection" role="status">
    The fleet is paused: what runs goes on, nothing new starts.{' '}
    <Button size="1" variant="soft" color="amber" highContrast onClick={unpause}>
      Unpause
    </Button>
  </div>
)

/** Whoever looks at a list is told that it is not whole. */
export const UnreadableBar = ({ count }: { count: number }) => (
  <div className="connection" role="status">
    {plural(count, 'record')} in the store cannot be read, and no list shows {count === 1 ? 'it' : 'them'}. What to do:{' '}
    <code>fleet doctor</code>
  </div>
)
