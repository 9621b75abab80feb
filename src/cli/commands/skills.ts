import { Argument, type Command } from 'commander'
import { SKILL_CLIENTS } from '../../install/names.ts'
import { does } from '../command.ts'

export function addSkills(program: Command): void {
  const skills = program.command('skills').description('install pages that teach coding agents to use the fleet')
  for (const [verb, summary] of [
    ['install', 'write the skills; other files stay as they are'],
    ['remove', 'remove the skills, except those that somebody changed'],
  ] as const) {
    const command = skills
      .command(verb)
      .description(summary)
      .addArgument(
        new Argument('[clients...]', `default: all ${verb === 'install' ? 'that are installed' : 'of them'}`).choices(
          SKILL_CLIENTS,
        ),
      )
      .option('--user', 'for all your projects (default)')
      .option('--project', 'for the repository you are in')
      .option('--dry-run', 'print what would change and write nothing')
      .option('-y, --yes', 'write without asking')
    does(command, async (cli, clients, options) => (await work()).changeSkills(cli, verb, clients, options))
  }
  const list = skills
    .command('list')
    .alias('ls')
    .description('list the skills and where each is installed')
    .option('--user', 'for all your projects (default)')
    .option('--project', 'for the repository you are in')
  does(list, async (cli, _, options) => (await work()).listSkills(cli, options))
  does(skills.command('show').description('print a skill').argument('<skill>', 'its name'), async (cli, [name]) =>
    (await work()).showSkill(cli, name!),
  )
}

const work = () => import('../skills.ts')
