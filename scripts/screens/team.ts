import { join } from 'node:path'
import { type Program, until } from './program.ts'
import { repository } from './repository.ts'

interface Task {
  id: string
  state: string
  candidate: string | null
}

/** A team at work: mail in every state, tasks in every column, and something in every other part. */
export async function aTeamAtWork({ root, node, fleet, call }: Program): Promise<string> {
  const path = join(root, 'code/lighthouse')
  repository(path, { 'README.md': '# Lighthouse\n', 'src/lamp.js': 'export const period = 5\n' })
  const project = await call('create_project', { name: 'Lighthouse', path, landing: 'review', agent: 'helm' })
  const gate = join(root, 'night')
  const hold = `until [ -e '${gate}' ] || [ ! -e '${root}' ]; do sleep 0.2; done`
  const asks = (operation: string, input: object) =>
    `'${node}' '${fleet}' call ${operation} '${JSON.stringify(input)}' > /dev/null`
  /** Answers its mail by rule, and does what its task says. */
  const script = [
    'while read -r message; do',
    `  id=$(printf %s "$message" | sed 's/.*"id":"\\([a-z0-9]*\\)","thread.*/\\1/')`,
    '  case "$message" in',
    `    *'"needs":"ack"'*) '${node}' '${fleet}' call ack_mail "{\\"mail_id\\":\\"$id\\"}" > /dev/null;;`,
    `    *'"needs":"reply"'*) '${node}' '${fleet}' call reply_mail "{\\"mail_id\\":\\"$id\\",\\"body\\":\\"The period is **5 seconds**, as in \\\`src/lamp.js\\\`.\\"}" > /dev/null;;`,
    '  esac',
    'done < "$FLEET_MAIL_FILE"',
    `if [ -n "$FLEET_TEAM_TASK" ]; then sed -n 's/^do: //p' "$FLEET_PROMPT_FILE" > "$FLEET_RESULT_FILE.sh"; sh -e "$FLEET_RESULT_FILE.sh"; fi`,
  ].join('\n')
  const team = await call('create_team', {
    ...{ project_id: project.id, name: 'keepers', max_members: 5, max_budget_usd: 25 },
    description: 'They keep the light burning, and write down what they see.',
  })
  const team_id = team.id
  const crew = await call('swarm_create', {
    team_id,
    name: 'painters',
    max_agents: 2,
    description: 'Everything red and white.',
  })
  const add = (handle: string, more: object = {}) =>
    call('add_member', { team_id, handle, agent: 'shell', charter: script, ...more })
  await add('lea', { role: 'team-lead' })
  await add('mira')
  await add('tom', { swarm_id: crew.id })
  await add('noor', { role: 'monitor' })
  const write = (to: string | string[], body: string, more: object = {}) =>
    call('send_mail', { team_id, to, body, ...more })
  const first = await write('@all', 'Storm warning for tonight. Secure the gallery.', {
    subject: 'Storm',
    needs: 'ack',
  })
  await until('everybody has heard of the storm', async () => {
    const { deliveries } = await call<{ deliveries: { state: string }[] }>('get_mail', { mail_id: first.id })
    return deliveries.every(({ state }) => state === 'acked')
  })
  await write('mira', 'What is the period of the light?', { subject: 'The light', needs: 'reply' })

  const task = (title: string, agent: string | undefined, lines: string[], more: object = {}) =>
    call<Task>('create_team_task', {
      ...{ team_id, title, description: [title, ...lines.map(each => `do: ${each}`)].join('\n'), ...more },
      ...(agent && { agent }),
    })
  const reaches = (id: string, state: string) =>
    until(`${id} ${state}`, async () => (await call<Task>('get_team_task', { task_id: id })).state === state)
  const standing = {
    ...{
      to_handle: 'operator',
      goal: 'The gallery is red again',
      now: 'The north side is painted. The south side needs a dry day.',
    },
    ...{ test: 'Look at it from the pier.', worked: ['Two thin coats.'], failed: ['One thick coat: it ran.'] },
    ...{ questions: ['Which red for the door?'], next: ['Paint the south side', 'Clean the brushes'] },
    done_this_session: [{ task: 'North side', files: ['paint/north.md'] }],
  }
  const done = await task('Measure the range of the light', 'tom', ['echo 18 miles > range.md'])
  await reaches(done.id, 'review')
  const { candidate } = await call<Task>('get_team_task', { task_id: done.id })
  await call('land_mission', { mission_id: done.id, expected: candidate })
  const review = await task('Paint the gallery', 'tom', [
    'mkdir -p paint; echo red > paint/north.md',
    asks('checkpoint_create', standing),
    asks('blackboard_post', {
      message_type: 'status',
      payload: 'The gallery is wet. **Nobody leans on the rail.**',
      priority: 'high',
    }),
    asks('spawn_request', {
      agent_type: 'worker',
      task: 'Hold the ladder while tom paints the door.',
      priority: 'high',
    }),
  ])
  await reaches(review.id, 'review')
  await reaches(done.id, 'done')
  const working = await task('Write the schedule of the light', 'mira', [
    asks('team_claim', { file: 'src/**', reason: 'the schedule is read by the lamp' }),
    asks('blackboard_post', {
      message_type: 'request',
      payload: 'Who knows when the sun sets in December?',
      target_handle: 'lea',
    }),
    'echo "node --test src/schedule.test.js"',
    hold,
  ])
  await reaches(working.id, 'working')
  await task('Announce the schedule in the harbour', 'lea', [], { blocked_by: [working.id, review.id] })
  await task('Grease the gears', 'mira', [])
  await task('Replace the spare bulb', undefined, [], { priority: 3 })
  await task('Count the gulls', undefined, [])
  await until('mira has reserved', async () => {
    const { reservations } = await call<{ reservations: object[] }>('team_reservations', { team_id })
    return reservations.length > 0
  })
  await call('team_claim', { team_id, file: 'src/lamp.js', reason: 'a longer period' })
  await call('team_claim', { team_id, file: 'docs/**' })
  await call('blackboard_post', {
    team_id,
    message_type: 'directive',
    payload: 'The light is lit at dusk, whatever the weather.',
    priority: 'critical',
  })
  await call('change_member', { team_id, member: 'noor', paused: true })
  const late = await write('@all', 'The supply boat comes on Friday. Write down what is missing.', {
    subject: 'Supplies',
    needs: 'ack',
  })
  await until('lea has acknowledged', async () => {
    const { deliveries } = await call<{ deliveries: { to: string; state: string }[] }>('get_mail', { mail_id: late.id })
    return deliveries.some(({ to, state }) => to === 'lea' && state === 'acked')
  })
  return team_id
}
