/** A name that people know from another tool, and what became of it here. */
export interface KnownName {
  from: KnownTool
  kind: NameKind
  name: string
  fate: Fate
  /** Its name here; absent: the same, if kept. */
  ours?: string
  /** What differs, or the reason. */
  why?: string
}

/**
 * `kept`: accepts what its clients send and answers what they read. `changed`: the same name does the same, but not
 * everything they send is accepted, or the answer has another shape.
 */
export type Fate = 'kept' | 'changed' | 'replaced' | 'dropped'

export const KNOWN_TOOLS = [
  'claude-devfleet',
  'codefleet',
  'fleet (beads supervisor)',
  'claude-fleet',
  'CAFleet',
] as const
export type KnownTool = (typeof KNOWN_TOOLS)[number]

export const NAME_KINDS = {
  route: 'REST routes',
  field: 'Fields of a mission',
  option: 'Options of a dispatch',
  tool: 'MCP tools',
  'inside tool': 'MCP tools of the agents inside',
  stage: 'Fields and variables of stages',
  preset: 'Tool presets',
  hook: 'Plugin hooks',
  command: 'Terminal',
  key: 'Configuration keys',
  variable: 'Environment variables',
  'client variable': 'Environment of clients',
  'agent variable': 'Environment of agents',
  file: 'Files of a task',
  event: 'WebSocket events',
  team: 'Teams',
} as const
export type NameKind = keyof typeof NAME_KINDS

type Told = Pick<KnownName, 'ours' | 'why'>
const told =
  (fate: KnownName['fate']) =>
  (from: KnownTool, kind: NameKind, name: string, ours?: string, why?: string): KnownName => ({
    ...{ from, kind, name, fate },
    ...({ ...(ours && { ours }), ...(why && { why }) } satisfies Told),
  })
export const kept = told('kept')
export const changed = (from: KnownTool, kind: NameKind, name: string, why: string): KnownName =>
  told('changed')(from, kind, name, undefined, why)
export const replaced = told('replaced')
export const dropped = (from: KnownTool, kind: NameKind, name: string, why: string): KnownName =>
  told('dropped')(from, kind, name, undefined, why)
export const all = (from: KnownTool, kind: NameKind, names: string): KnownName[] =>
  names.split(' ').map(name => kept(from, kind, name))
