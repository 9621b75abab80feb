import { Kbd } from '@radix-ui/themes'
import './key-help.css'

/** The keyboard shortcuts of a page; hidden without a keyboard. */
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
