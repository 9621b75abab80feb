import { plural } from '../words.ts'
import './line-counts.css'

interface LineCountsProps {
  /** null: it is not text. */
  added: number | null
  deleted: number | null
}

/** Added and deleted lines; nothing if there are none. */
export const LineCounts = ({ added, deleted }: LineCountsProps) => (
  <span className="line-counts">
    {!!added && (
      <span className="lines-added" role="img" aria-label={`${plural(added, 'line')} added`}>
        +{added.toLocaleString('en')}
      </span>
    )}{' '}
    {!!deleted && (
      <span className="lines-deleted" role="img" aria-label={`${plural(deleted, 'line')} deleted`}>
        −{deleted.toLocaleString('en')}
      </span>
    )}
  </span>
)
