import { useConnection } from '../live/data.ts'

/** Says when what is shown may no longer be how it is. Nothing is said while all is well. */
export function ConnectionBar() {
  const connection = useConnection()
  if (connection === 'signed-out')
    return (
      <div className="connection" role="alert">
        This browser is no longer signed in. Run <code>fleet up --detach</code> for a new link, then open it here.
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
