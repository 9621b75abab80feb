import { join } from 'node:path'
import type { RepositoryOptions } from '../../../src/git/testkit.ts'
import { NODE } from '../../kit/fleet.ts'
import type { World } from '../world.ts'

export interface Expected {
  id: string
  status: string
  /** How many commits on the base branch land its work, and how many undo it. */
  landings: number
  undos?: number
  /** How many sessions its agent ran. */
  sessions: number
}

export interface Scenario {
  name: string
  env?: Record<string, string>
  repository?: RepositoryOptions
  base?: string
  /** Runs before the first server starts. */
  before?(world: World): Promise<void>
  play(world: World): Promise<Expected[]>
}

export const landed = (id: string, sessions = 1): Expected => ({ id, status: 'done', landings: 1, sessions })

/** Its agent is the stand-in for Claude Code, which takes messages. */
export const LISTENING = { PATH: `${join(import.meta.dirname, '../stand-in')}:${join(NODE, '..')}:${process.env.PATH}` }
