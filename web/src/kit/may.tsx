import type { ReactNode } from 'react'
import { useMay } from '../live/me.ts'
import type { May as Rights } from '../live/rights.ts'
import './may.css'

interface MayProps {
  use: Parameters<Rights>[0]
  project?: string | null
  children: ReactNode
}

/** Offers something only to those who may use it. */
export const May = ({ use, project, children }: MayProps): ReactNode => (useMay(use, project) ? children : null)

/** Fields that everybody who sees them may read, and that only those who may can change. */
export const Editable = ({ use, project, children }: MayProps): ReactNode => (
  <fieldset className="editable" disabled={!useMay(use, project)}>
    {children}
  </fieldset>
)
