import { createHash } from 'node:crypto'
import type { z } from 'zod'
import type { Way } from '../domain/records/audit.ts'
import type { Grant } from '../domain/records/principal.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Permission } from './permissions.ts'
import type { Offered } from './tool-sets.ts'

/**
 * Who asks. The owner is whoever can read the files of the home. A session's token speaks for that session only; a
 * plugin asks as the owner, and is named.
 */
export type Caller =
  | {
      kind: 'owner'
      plugin?: string
      /** The browser or the terminal they ask with, where it has a name. */
      device?: string
      token?: string
      expires_at?: string | null
    }
  | Principal
  | { kind: 'session'; session_id: string; mission_id: string; project_id: string }
  /** A scraper with a token of its own. It reads measurements. */
  | { kind: 'monitor' }

/** A person or a service that was let in, as it was when the request came. */
export interface Principal {
  kind: 'person' | 'service'
  id: string
  name: string
  grants: readonly Grant[]
  /** What their token is limited to; null: nothing less than the grants. */
  limit: readonly Grant[] | null
  /** The browser or the token they ask with. */
  device?: string
  token?: string
  /** When that token ends. */
  expires_at?: string | null
  /** The team that a JWT of `POST /auth` was given for. */
  team?: string
  /** A JWT of `POST /auth` is for an agent, which never decides about permissions, whatever its role. */
  forAgent?: true
}

/** The browser they ask with. */
export const deviceOf = (caller: Caller): string | undefined => ('device' in caller ? caller.device : undefined)

/** The token they ask with, if it is one that can be revoked. */
export const tokenOf = (caller: Caller): string | undefined => ('token' in caller ? caller.token : undefined)

/** From where somebody asks. */
export interface From {
  way: Way
  /** The address of the connection, if there is one. */
  address?: string
}

export interface Context {
  fleet: Fleet
  caller: Caller
  /** From where it is asked, for the audit log. Absent: nobody asks, the fleet does. */
  from?: From
  /** The idempotency key: the same command sent again with it is not carried out again. */
  key?: string
  /** With a key: a fingerprint of the input. */
  fingerprint?: string
  /** Aborted when the caller is gone. */
  signal: AbortSignal
  /** Reports progress, if the caller can receive it. */
  progress?: (step: Progress) => void
  /** Asks the person at the caller's client, if that is possible. */
  elicit?: Elicit
}

/** A form with one field for each property; the schemas are as MCP allows them. */
export interface Form {
  message: string
  properties: Record<string, object>
  required: readonly string[]
}

/** What the person filled in. Undefined: they did not, or the signal was first. */
export type Elicit = (form: Form, signal: AbortSignal) => Promise<Record<string, unknown> | undefined>

export interface Progress {
  done: number
  total?: number
  message: string
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface Common<I extends z.ZodObject, N extends string> {
  name: N
  summary: string
  /** The permission that a person or a service needs. */
  may: Permission
  /** What else it needs, given the input. */
  mayAlso?: (input: z.infer<I>) => readonly Permission[]
  /**
   * `fleet`: it concerns the whole fleet, although its input names something in a project, or it is a query. `view`: a
   * command that concerns what its caller sees, although its input may name nothing.
   */
  touches?: 'fleet' | 'view'
  /** The set of MCP tools that has it, or how it is offered there. False: it is not. */
  mcp: Offered['set'] | Offered | false
  /** `POST /api/missions/:mission_id/dispatch`. The names in the path are fields of the input. */
  http: `${Method} /${string}`
  input: I
  /** How long its body may be, if that is more than usual. */
  bodyBytes?: number
  /** Whether a session's own token may use this, given the input. Absent: never. */
  agentMay?: (caller: Extract<Caller, { kind: 'session' }>, input: z.infer<I>) => boolean
  /** Whether it takes effect only while a server runs. Then the terminal starts one. */
  needsFleet?: boolean
  /**
   * Whether a running server must do it itself, because it works in worktrees that sessions work in too, or needs what
   * only the server has. A command is carried out as the daemon: once another has taken the lease, nothing of it is
   * committed. Where several servers share the store, one that does not decide passes it on to the one that does.
   * `itself`: what it answers is of use only at the server that decides, so that others name that one. `any`: every
   * server does it for itself.
   */
  inServer?: true | 'itself' | 'any'
}

export interface Query<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType, N extends string = string>
  extends Common<I, N> {
  kind: 'query' | 'command'
  output: O
  run(context: Context, input: z.infer<I>): Promise<z.input<O>>
}

/** One item of a stream; `cursor` resumes after it. An item of the kind `ping` says: nothing new, still alive. */
export interface Item<T> {
  cursor: string
  kind: string
  data: T
}

export interface Streaming<
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodType = z.ZodType,
  N extends string = string,
> extends Common<I, N> {
  kind: 'stream'
  /** The type of each item's data. The input has an optional `after`: the cursor to continue from. */
  output: O
  run(context: Context, input: z.infer<I>): AsyncIterable<Item<z.input<O>>>
}

export type Operation = Query | Streaming

// These makers tie the types of input, output and run together. The name stays literal, for typed clients. An unknown
// field is refused, not ignored.
const strict = <I extends z.ZodObject>(input: I): I => input.strict() as unknown as I

export const query = <const N extends string, I extends z.ZodObject, O extends z.ZodType>(
  definition: Omit<Query<I, O, N>, 'kind'>,
): Query<I, O, N> => ({
  ...definition,
  input: strict(definition.input),
  kind: 'query',
  run: async (context, input) =>
    isForAnother(definition, context)
      ? passedOn<O>(definition, context, input)
      : definition.run(await asDecider(definition, context), input),
})
export const command = <const N extends string, I extends z.ZodObject, O extends z.ZodType>(
  definition: Omit<Query<I, O, N>, 'kind'>,
): Query<I, O, N> => ({
  ...definition,
  input: strict(definition.input),
  kind: 'command',
  run: async (context, input) =>
    isForAnother(definition, context)
      ? passedOn<O>(definition, context, input)
      : definition.run(
          await asDecider(definition, context.key ? { ...context, fingerprint: fingerprintOf(input) } : context),
          input,
        ),
})

/** What is done to files before the first commit must not be done by a daemon that was replaced. */
async function asDecider({ inServer }: Pick<Operation, 'inServer'>, context: Context): Promise<Context> {
  const { daemon } = context.fleet
  if (!inServer || inServer === 'any' || !daemon) return context
  await daemon.requireLease?.()
  return { ...context, fleet: daemon }
}

/** Whether another server of this store has to do it. */
const isForAnother = ({ inServer }: Pick<Operation, 'inServer'>, { fleet }: Context): boolean =>
  fleet.fellows !== undefined && !fleet.daemon && inServer !== undefined && inServer !== 'any'

/** The deciding server looks again at whether the caller may. */
async function passedOn<O extends z.ZodType>(
  { name, inServer, summary }: Pick<Operation, 'name' | 'inServer' | 'summary'>,
  { fleet, caller, key, signal }: Context,
  input: object,
): Promise<z.input<O>> {
  if (inServer === 'itself') throw await fleet.fellows!.refusal(summary)
  return (await fleet.fellows!.forward({ operation: name, input, caller, key }, signal)) as z.input<O>
}

const fingerprintOf = (input: object): string => createHash('sha256').update(JSON.stringify(input)).digest('base64url')
export const stream = <const N extends string, I extends z.ZodObject, O extends z.ZodType>(
  definition: Omit<Streaming<I, O, N>, 'kind'>,
): Streaming<I, O, N> => ({ ...definition, input: strict(definition.input), kind: 'stream' })
