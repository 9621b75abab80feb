import { Kbd } from '@radix-ui/themes'
import './key-help.css'

/** Which keys do what here; not shown where there is no keyboard. */
export const KeyHelp = ({ keys }: { keys: Record<string, string> }) => (
  <p className="key-help">
    {Object.entries(keys).map(([names, what]) => (
      <span key={names}>
        {names.split(' ').map(name => (
          <Kbd key={name} size="1">
            {name}
          </Kbd>
        ))}{' '}
        {what}
      </span>
    ))}
  </p>
)
