import type { Capabilities } from '../../src/agents/contract.ts'

export interface Scenario {
  name: string
  /** Matches the titles of the tests for it. */
  shownBy: RegExp
  /** Whether a client with these capabilities must show it; absent: every client must. */
  offered?: (can: Capabilities) => boolean
  /** It is about the model, which a stand-in does not call. */
  ofModel?: true
}

/** Whether its cost is known. */
const isCounted = ({ cost }: Capabilities): boolean => cost === 'money' || cost === 'priced'
const hasBudget = (can: Capabilities): boolean => can.budgetLimit || (isCounted(can) && can.usage === 'while working')

const hasTools = ({ mcp }: Capabilities): boolean => mcp !== 'no'
const isToldMidTurn = ({ liveMessages }: Capabilities): boolean => liveMessages === 'mid-turn'

/** What every client must show. Tests are found by their titles, so those of one scenario have similar titles. */
export const SCENARIOS: readonly Scenario[] = [
  { name: 'edit and run', shownBy: /\bedits .*runs/ },
  { name: 'edit and land', shownBy: /reports and lands|and lands with no gap|do missions/ },
  { name: 'instructions of all four kinds', shownBy: /instructed by fleet, project, mission and dispatch/ },
  { name: 'tool over MCP', shownBy: /tools of a server given|with servers/, offered: hasTools },
  {
    name: 'every tool of the fleet',
    shownBy: /calls every tool of the fleet/,
    offered: hasTools,
  },
  {
    name: 'its tools after kill -9 of the server',
    shownBy: /tools go on after kill -9/,
    offered: hasTools,
  },
  {
    name: 'resume',
    shownBy: /resumed|taken up again|is gone on with|in the same conversation/,
    offered: can => can.resume,
  },
  { name: 'fork, the first unchanged', shownBy: /^a fork |with a copy|a copy of it leaves/, offered: can => can.fork },
  {
    name: 'live message',
    shownBy: /message reaches|person says reaches|words said at the end|hears between/,
    offered: can => can.liveMessages !== 'no',
  },
  { name: 'cancel with children', shownBy: /cancelled in the middle of a tool/ },
  { name: '429 twice, then success', shownBy: /429 twice/, ofModel: true },
  { name: '429 to the end', shownBy: /429 to the end|limit is known by its line/, ofModel: true },
  { name: 'parked by a rate limit, goes on', shownBy: /rate limit holds back/, ofModel: true },
  { name: '429 in words is left alone', shownBy: /429.* words/ },
  { name: '401', shownBy: /key that is not taken/, ofModel: true },
  { name: 'model gone', shownBy: /(provider|server|model) that is gone/, ofModel: true },
  { name: 'model hangs', shownBy: /model that hangs/, ofModel: true },
  { name: 'max turns', shownBy: /limits? of turns( |$)/, offered: can => can.turnLimit !== 'no' },
  { name: 'budget', shownBy: /turns and money|limit of money|held to a budget/, offered: hasBudget },
  { name: "a day's budget", shownBy: /day's budget/, offered: isCounted },
  {
    name: 'context pressure',
    shownBy: /context pressure|full context window/,
    offered: can => can.contextWindow,
  },
  {
    name: 'denied tool',
    shownBy: /nothing is written or removed|and changes nothing/,
    offered: can => can.presets.includes('review') || can.sandboxed.includes('review'),
  },
  {
    name: 'approval and answer',
    shownBy: /is asked for|asks a person|left to a person/,
    offered: can => can.approvals,
  },
  { name: 'question and answer', shownBy: /question is put to a person/, offered: can => can.questions },
  { name: 'interrupt, then go on', shownBy: /^interrupted /, offered: can => can.interrupt },
  {
    name: 'restart while it waits for an answer',
    shownBy: /die while an agent waits|answer from another server/,
    offered: can => can.approvals && can.adopted,
  },
  { name: 'prompt of 200 kB', shownBy: /200 kB/ },
  { name: 'images', shownBy: /sees the images of a mission/, offered: can => can.images },
  {
    name: 'kill -9 of the server, adoption',
    shownBy: /goes on while the server is dead/,
    offered: can => can.adopted,
  },
  { name: 'kill -9 of the server, resumed once', shownBy: /lost with the server/, offered: can => !can.adopted },
  { name: 'member: woken by mail', shownBy: /woken by mail/ },
  { name: 'member: told mid-turn', shownBy: /told in the middle of its turn/, offered: isToldMidTurn },
  { name: 'member: told after its turn', shownBy: /told at the end of its turn/, offered: can => !isToldMidTurn(can) },
  { name: 'member: replies with a tool', shownBy: /reads and replies with tools/, offered: hasTools },
  { name: 'member: claims a task', shownBy: /takes a task/, offered: hasTools },
  { name: 'member: completes it', shownBy: /completes the task/, offered: hasTools },
  { name: 'member: hands over a checkpoint', shownBy: /hands over a checkpoint/, offered: hasTools },
  {
    name: 'member: continues a conversation',
    shownBy: /continues a copy of its conversation/,
    offered: can => can.fork,
  },
  { name: 'member: killed, answers its mail once', shownBy: /told its mail once more/, offered: hasTools },
  { name: 'nothing beyond loopback', shownBy: /beyond loopback/, ofModel: true },
]
