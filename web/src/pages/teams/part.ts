import type { Member, Team } from './words.ts'

export interface Wanted {
  /** Whom to write to. Empty: whoever was chosen before. */
  handle: string
}

export interface PartProps {
  team: Team
  /** Who looks, if they are a member. */
  myself: Member | undefined
  /** Opens the form for a message. */
  write(handle?: string): void
  wanted: Wanted | undefined
  /** The form has been opened. */
  met(): void
}
