import { plural } from '../words.ts'
import './line-counts.css'

interface LineCountsProps {
  /** Empty: it is no text. */
  added: number | null
  deleted: number | null
}

/** Lines that came and went; nothing where none did. */
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
