import type { Block } from '../../../../src/domain/rules/conversation.ts'

export interface BlockProps<B extends Block = Block> {
  block: B
  /** Loads all of an event that is shown shortened, if it is. */
  whole(event_id: string | undefined): (() => Promise<string>) | undefined
  /** Opened or closed by hand. */
  toggled: boolean
  toggle(id: string): void
  live: boolean
}
