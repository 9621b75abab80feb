import { all, type KnownName, kept, replaced } from './name.ts'

export const BEADS: KnownName[] = [
  ...[
    'fleet init [--force]',
    'fleet ready [--limit]',
    'fleet show <id> [--json]',
    'fleet tasks [--limit]',
    'fleet task <id> log',
    'fleet task <id> plan',
    'fleet task <id> knowledge',
    'fleet log [N]',
    'fleet config show [--raw]',
    'fleet config set k=v…',
  ].map(name => kept('fleet (beads supervisor)', 'command', name)),
  replaced(
    'fleet (beads supervisor)',
    'command',
    'fleet run [--coder X]',
    'fleet up [--set default_agent=X]',
    'fleet run "<what to do>" starts an agent; commands start the supervisor when they need it',
  ),
  kept(
    'fleet (beads supervisor)',
    'command',
    'fleet bd <args…>',
    'fleet bd <args…>',
    'these beads become missions once fleet beads bridge --of-home runs, or the server does it (beads_bridges = home)',
  ),
  ...all('fleet (beads supervisor)', 'agent variable', 'FLEET_TASK_ID FLEET_TASK_DIR FLEET_ARTIFACT_DIR'),
  kept('fleet (beads supervisor)', 'file', 'plan and status', 'PLAN.md'),
  kept('fleet (beads supervisor)', 'file', 'knowledge', 'KNOWLEDGE.md'),
  kept('fleet (beads supervisor)', 'file', 'artifacts'),
  kept(
    'fleet (beads supervisor)',
    'file',
    'questions (## Q: and ## A:)',
    'questions.md',
    'the fleet writes questions and answers to it and reads nothing from it, because agents can write it',
  ),
]
