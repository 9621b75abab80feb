import type { Mission, TakenOver } from '../../domain/records/mission.ts'
import type { Size, Terminal, Viewer } from './terminal.ts'

/** The terminals that a server holds for pages: `Terminals` of the daemon. */
export interface HeldTerminals {
  /** This process, as a mission that is taken over here names it. */
  readonly identity: TakenOver['terminal']
  /** Whether this server holds the mission for a page. */
  holds(mission: Mission): boolean
  /** Hands the mission back if no page shows its terminal after a while. */
  expectPage(missionId: string): void
  /** Shows the terminal of a mission, which is started for its first viewer. */
  attach(missionId: string, viewer: Viewer, size: Size): Promise<Terminal>
  /** A page was closed. `signedOut`: nobody will come back. */
  detach(missionId: string, viewer: Viewer, how: { signedOut: boolean }): Promise<void>
}
