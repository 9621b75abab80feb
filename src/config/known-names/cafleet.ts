import { changed, type KnownName, replaced } from './name.ts'

const FROM = 'CAFleet'
const AS = 'with fleet as cafleet in front; answers are JSON'
const ID = '--agent-id must be what the token says'

/** Commands of its terminal, and its words. */
export const CAFLEET: KnownName[] = [
  ...['create', 'list', 'show', 'delete'].map(verb =>
    changed(FROM, 'command', `session|fleet ${verb}`, `${AS}; it is a team`),
  ),
  changed(FROM, 'command', 'agent register', `${AS}, with a token to ask with from then on; without --description`),
  changed(FROM, 'command', 'agent list', AS),
  changed(FROM, 'command', 'agent show', AS),
  changed(FROM, 'command', 'agent deregister', `${AS}; needs the right to change who is in a team`),
  changed(FROM, 'command', 'message send', `${AS}; ${ID}`),
  changed(FROM, 'command', 'message broadcast', `${AS}; ${ID}; needs the right to write to all`),
  changed(FROM, 'command', 'message poll', `${AS}; ${ID}; what it shows counts as heard`),
  changed(FROM, 'command', 'message ack', `${AS}; ${ID}`),
  changed(FROM, 'command', 'message cancel', `${AS}; ${ID}; only for those it was not handed to`),
  changed(FROM, 'command', 'message show', `${AS}; ${ID}`),
  changed(FROM, 'command', 'member create', `${AS}; with --tmux in a window; without, mail wakes it`),
  changed(
    FROM,
    'command',
    'member delete',
    `${AS}; one at work is waited for 15 s, then its last 80 lines are shown and the exit code is 2`,
  ),
  changed(FROM, 'command', 'member list', AS),
  changed(FROM, 'command', 'server', 'with fleet as cafleet in front; the same as fleet up'),
  changed(FROM, 'command', 'doctor', 'with fleet as cafleet in front; the same as fleet doctor'),
  changed(FROM, 'command', 'setup', 'with fleet as cafleet in front; the same as fleet setup'),
  replaced(FROM, 'command', 'db init', 'fleet up', 'the store is made and brought up to date by itself'),
  changed(FROM, 'command', 'member capture', `${AS}; of a member without a window, what it printed last`),
  changed(FROM, 'command', 'member send-input', `${AS}; only a person answers what a window asks`),
  changed(FROM, 'command', 'member exec', `${AS}; only in a window, and only while its client is idle`),
  changed(FROM, 'command', 'member ping', `${AS}; nothing is typed; the exit code is 1 if it is not alive`),
  changed(FROM, 'command', 'member nudge', `${AS}; a member without a window gets mail`),
  changed(FROM, 'command', 'monitor start', `${AS}; a view: the server watches, and no process of its own runs`),
  changed(FROM, 'command', 'monitor status', `${AS}; how each agent is, why, and what comes next`),
  changed(FROM, 'command', 'monitor config', `${AS}; --interval for all or for one agent, --on and --off`),
  changed(FROM, 'variable', 'CAFLEET_BROKER_HOST', 'of fleet as cafleet server; fleet up says that it is not used'),
  changed(FROM, 'variable', 'CAFLEET_BROKER_PORT', 'of fleet as cafleet server; fleet up says that it is not used'),
  changed(FROM, 'variable', 'CAFLEET_MAX_TEXT_LEN', 'of fleet as cafleet message; without it, texts are whole'),
  replaced(
    FROM,
    'variable',
    'CAFLEET_DATABASE_URL',
    'FLEET_STORE',
    'its database is not read; fleet as cafleet refuses',
  ),
  replaced(FROM, 'team', 'fleet, session', 'team'),
  replaced(FROM, 'team', 'director', 'team-lead', 'a role'),
  replaced(FROM, 'team', 'administrator', 'operator', 'the owner of the home as a member of a team'),
  replaced(FROM, 'team', 'page: namespaces', 'Teams, on the page'),
  replaced(FROM, 'team', 'page: members, active and gone', 'Members, on the page of a team'),
  replaced(FROM, 'team', 'page: timeline', 'Mail, there', 'threads, the newest first; a broadcast is one message'),
  replaced(
    FROM,
    'team',
    'page: acknowledgement chips',
    'Mail, there',
    'each recipient with state and time; where it was cancelled, the recipient is struck out',
  ),
  replaced(FROM, 'team', 'page: composer', 'Mail, there', '@name, @all, and @role too; you send as operator'),
  replaced(FROM, 'team', 'skills', 'fleet skills install', 'six, with names of their own: flotilla-…'),
]
