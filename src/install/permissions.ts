import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type ClientFolders, clientFolders } from './clients.ts'
import type { Format, Item } from './document.ts'
import { json } from './json-format.ts'
import { type Memories, memoriesIn } from './memory.ts'
import { SETUP_CLIENTS, type SetupClient } from './names.ts'
import { type Change, reconciled, reconciledFile } from './reconcile.ts'

/** What lets a client run `fleet` in its shell without asking: one entry of its file, or a file of its own. */
type CommandRule = { file: string } & ({ format: Format; item: Item } | { text: string })

const ABOUT = '# Made by fleet setup; fleet setup --remove takes it away.\n'

const RULES: Record<SetupClient, (folders: ClientFolders) => CommandRule> = {
  claude: folders => ({
    file: join(clientFolders.claude(folders), 'settings.json'),
    format: json,
    item: { path: ['permissions', 'allow'], value: 'Bash(fleet *)', element: true },
  }),
  codex: folders => ({
    file: join(clientFolders.codex(folders), 'rules', 'flotilla.rules'),
    text: `${ABOUT}prefix_rule(pattern = ["fleet"], decision = "allow")\n`,
  }),
  gemini: folders => ({
    file: join(clientFolders.gemini(folders), 'policies', 'flotilla.toml'),
    text: `${ABOUT}[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "fleet"\ndecision = "allow"\npriority = 100\n`,
  }),
  opencode: folders => ({
    file: clientFolders.opencodeFile(folders),
    format: json,
    // The last rule that matches decides, so this one must come after the others, where new ones are added.
    item: { path: ['permission', 'bash', 'fleet *'], value: 'allow' },
  }),
}

const NO_FOLDERS: ClientFolders = { user: '', project: '', env: {} }
const COMMAND_ITEMS = SETUP_CLIENTS.map(name => RULES[name](NO_FOLDERS)).flatMap(rule =>
  'item' in rule ? [rule.item] : [],
)

/** Whether `fleet setup` adds this. What else is in a file, `fleet mcp install` added. */
export const isCommandItem = (item: Item): boolean => COMMAND_ITEMS.some(each => isDeepStrictEqual(each, item))

interface Permission {
  client: SetupClient
  change: Change
  /** The file of a rule to be taken back that somebody changed, and that stays for it. */
  isLeft: boolean
}

/** The changes that let these clients run `fleet` without asking, or take that back. Writes nothing. */
export function permitted(
  clients: readonly SetupClient[],
  folders: ClientFolders,
  home: string,
  remove: boolean,
): Permission[] {
  const memories = memoriesIn(home)
  return clients.flatMap(client => {
    const rule = RULES[client](folders)
    const change = changeFor(rule, memories, remove)
    if (change.before === change.after && memories[change.file] === change.memory) return []
    return [{ client, change, isLeft: remove && 'text' in rule && change.after !== undefined }]
  })
}

function changeFor(rule: CommandRule, memories: Memories, remove: boolean): Change {
  if ('text' in rule) return reconciledFile(rule.file, memories, remove ? undefined : rule.text)
  return reconciled(rule.file, rule.format, memories, {
    items: remove ? [] : [rule.item],
    keep: item => !isCommandItem(item),
  })
}
