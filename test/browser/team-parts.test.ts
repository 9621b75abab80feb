import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { eventually, LAUNCHER, NODE } from '../kit/fleet.ts'
import { aScene, type SceneOptions } from '../kit/scene.ts'
import { aTeam } from '../kit/team.ts'
import { doer, steps, type TaskView } from '../kit/team-tasks.ts'
import {
  aPerson,
  expectAccessible,
  expectActiveTabInView,
  type Person,
  screenshot,
  settled,
  withBrowser,
} from './kit.ts'

withBrowser()

const dialog = (page: Page) => page.getByRole('dialog').last()
const column = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const taskIn = (page: Page, name: string, title: string) =>
  column(page, name).getByRole('article', { name: title, exact: true })
const member = (page: Page, handle: string) =>
  page.getByRole('list', { name: 'Members' }).getByRole('listitem').filter({ hasText: handle })

async function choose(page: Page, label: string, option: string | RegExp) {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: option, exact: typeof option === 'string' }).click()
}

async function act(page: Page, title: string, action: string) {
  await page.getByRole('button', { name: `Actions for ${title}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

async function openPart({ page }: Person, name: string) {
  await page
    .getByRole('navigation', { name: 'Parts of the team' })
    .getByRole('link', { name: new RegExp(`^${name}`) })
    .click()
  await settled(page)
}

/** A line of a task: its member asks for something, as an agent does. */
const asks = (operation: string, input: object) =>
  `'${NODE}' '${LAUNCHER}' call ${operation} '${JSON.stringify(input)}' > /dev/null`

async function aCrew(options: SceneOptions = {}) {
  const s = await aScene({ project: { name: 'Ship' }, ...options })
  const crew = await aTeam(s, [])
  await crew.add('ada', { charter: doer(`${s.fleet.root}/journal`) })
  const task = (title: string, input: object = {}) =>
    s.fleet.call<TaskView>('create_team_task', { team_id: crew.team.id, title, ...input })
  return { ...s, crew, task, at: (part: string) => `/teams/${crew.team.id}?tab=${part}` }
}

const isAsWideAsTheScreen = (page: Page) => page.evaluate('document.documentElement.scrollWidth <= innerWidth')

test('tasks: one is created and assigned, its member works and it lands; another names what blocks it, then is done', async () => {
  const s = await aCrew()
  const person = await aPerson(s.fleet)
  const { page } = person
  await person.visit(s.at('tasks'))
  await page.getByText('No tasks yet').waitFor()
  await expectAccessible(page)
  await page.keyboard.press('c')
  await dialog(page).getByRole('textbox', { name: 'Title' }).fill('Sound the horn')
  await dialog(page)
    .getByRole('textbox', { name: 'Description' })
    .fill(steps('echo at the horn', s.gate('horn').wait, 'echo toot > horn.txt'))
  await choose(page, 'Member', /^ada/)
  await screenshot(page, 'team-task-new')
  await expectAccessible(page)
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  const working = taskIn(page, 'In work', 'Sound the horn')
  await working.getByText('at the horn').waitFor()
  await page.keyboard.press('c')
  await dialog(page).getByRole('textbox', { name: 'Title' }).fill('Answer the horn')
  await dialog(page)
    .getByRole('textbox', { name: 'Description' })
    .fill(steps('test -e horn.txt', 'echo tut > answer.txt'))
  await choose(page, 'Member', /^ada/)
  await dialog(page).getByRole('checkbox', { name: 'Sound the horn' }).check()
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  const blocked = taskIn(page, 'Waiting', 'Answer the horn')
  await blocked.getByText('Blocked').waitFor()
  await blocked.getByRole('link', { name: 'Sound the horn' }).waitFor()
  await settled(page)
  await screenshot(page, 'team-tasks')
  await expectAccessible(page)

  // What the member does is said beside its name, with the task.
  await openPart(person, 'Mail')
  await member(page, 'ada').getByText('Working').waitFor()
  await member(page, 'ada').getByRole('link', { name: 'Sound the horn' }).waitFor()
  await member(page, 'ada').getByText('at the horn').waitFor()
  await openPart(person, 'Tasks')
  s.gate('horn').open()
  await taskIn(page, 'Done', 'Sound the horn').waitFor()
  await taskIn(page, 'Done', 'Answer the horn').waitFor()
  expect(await s.repo.git('log', '--format=%(trailers:key=Fleet-Member,valueonly)', 'main')).toContain('ada (crew)')

  // A person takes a task, gives it back, assigns it, and completes another.
  await s.crew.add('bob', { charter: doer(`${s.fleet.root}/journal`) })
  await s.fleet.call('change_member', { team_id: s.crew.team.id, member: 'bob', paused: true })
  await s.task('Count the gulls')
  await taskIn(page, 'Open', 'Count the gulls').getByText('Nobody').waitFor()
  await act(page, 'Count the gulls', 'Take it')
  await taskIn(page, 'Waiting', 'Count the gulls').getByText('operator', { exact: true }).waitFor()
  await act(page, 'Count the gulls', 'Give it back')
  await taskIn(page, 'Open', 'Count the gulls').waitFor()
  await act(page, 'Count the gulls', 'Assign…')
  await choose(page, 'Member', /^bob/)
  await expectAccessible(page)
  await dialog(page).getByRole('button', { name: 'Assign' }).click()
  await taskIn(page, 'Waiting', 'Count the gulls').getByText('bob is paused').waitFor()
  await s.task('Feed the gulls')
  await act(page, 'Count the gulls', 'Say what blocks it…')
  await dialog(page).getByRole('checkbox', { name: 'Feed the gulls' }).check()
  await expectAccessible(page)
  await dialog(page).getByRole('button', { name: 'Block' }).click()
  await taskIn(page, 'Waiting', 'Count the gulls').getByRole('link', { name: 'Feed the gulls' }).waitFor()
  await act(page, 'Feed the gulls', 'Complete…')
  await dialog(page)
    .getByRole('textbox', { name: /^What was done/ })
    .fill('They are fed')
  await dialog(page).getByRole('button', { name: 'Complete' }).click()
  await taskIn(page, 'Done', 'Feed the gulls').waitFor()
  await taskIn(page, 'Waiting', 'Count the gulls').getByText('bob is paused').waitFor()
  await page.getByRole('link', { name: 'Count the gulls' }).click()
  await page.getByRole('heading', { level: 1, name: 'Count the gulls' }).waitFor()
})

test('a request for a member is granted, and a checkpoint accepted and loaded', async () => {
  const s = await aCrew()
  const person = await aPerson(s.fleet, { scheme: 'dark' })
  const { page } = person
  await person.visit(s.at('requests'))
  await page.getByText('No requests').waitFor()
  await s.task('Mend the sail', {
    agent: 'ada',
    description: steps(
      asks('spawn_request', {
        agent_type: 'worker',
        handle: 'nina',
        agent: 'shell',
        task: 'echo Needles are threaded.',
      }),
      asks('checkpoint_create', {
        ...{ to_handle: 'operator', goal: 'The sail holds', now: 'One seam is **left**.', test: 'Pull at it.' },
        ...{ worked: ['double thread'], failed: ['glue'], next: ['the last seam'] },
        done_this_session: [{ task: 'three seams', files: ['sail.txt'] }],
      }),
    ),
  })
  const request = page.getByRole('article', { name: 'nina' })
  await request.getByText('It waits for a lead or a person who grants it.').waitFor()
  await settled(page)
  await screenshot(page, 'team-requests-dark')
  await expectAccessible(page)
  await request.getByRole('button', { name: 'Grant' }).click()
  await request.getByText('Added').waitFor()
  await member(page, 'nina').waitFor()

  await openPart(person, 'Checkpoints 1')
  const checkpoint = page.getByRole('article', { name: 'The sail holds' })
  for (const words of ['One seam is left.', 'Pull at it.', 'double thread', 'glue', 'the last seam', 'sail.txt'])
    await checkpoint.getByText(words).waitFor()
  await checkpoint.getByRole('button', { name: 'Copy the commit' }).waitFor()
  await screenshot(page, 'team-checkpoint-dark')
  await expectAccessible(page)
  await checkpoint.getByRole('button', { name: 'Accept…' }).click()
  await dialog(page)
    .getByRole('textbox', { name: /^What you will do/ })
    .fill('I sew it')
  await dialog(page).getByRole('button', { name: 'Accept' }).click()
  await checkpoint.getByText('I sew it').waitFor()
  await checkpoint.getByText('Accepted', { exact: true }).waitFor()
  await checkpoint.getByRole('button', { name: 'Load into a session…' }).click()
  await choose(page, 'Member', 'nina')
  await dialog(page).getByRole('button', { name: 'Load' }).click()
  await checkpoint.getByText('In the next prompt').waitFor()
})

test('a post is read and answered, an overlap is shown, a swarm is written to and killed', async () => {
  const s = await aCrew()
  const person = await aPerson(s.fleet)
  const { page } = person
  await person.visit(s.at('blackboard'))
  await page.getByText('Nothing is written here').waitFor()
  for (const [part, words] of [
    ['Checkpoints', 'No checkpoints yet'],
    ['Files', 'Nothing is reserved'],
    ['Swarms', 'No swarms'],
  ] as const) {
    await openPart(person, part)
    await page.getByText(words).waitFor()
    await expectAccessible(page)
  }
  await s.task('Mend the sail', {
    agent: 'ada',
    description: steps(
      asks('team_claim', { file: 'sails/**', reason: 'seams' }),
      asks('blackboard_post', { message_type: 'request', payload: 'Who has a needle?', priority: 'high' }),
      s.gate('seam').wait,
      'echo mended > sail.txt',
    ),
  })

  await openPart(person, 'Blackboard 1')
  const post = page.getByRole('article', { name: 'Post of ada' })
  await post.getByRole('img', { name: 'Unread' }).waitFor()
  await expectAccessible(page)
  await post.getByRole('button', { name: 'Mark as read' }).click()
  await post.getByRole('img', { name: 'Unread' }).waitFor({ state: 'detached' })
  await page.keyboard.press('p')
  await dialog(page).getByRole('textbox', { name: 'Text' }).fill('In the *second* drawer')
  await choose(page, 'Type', 'Response')
  await choose(page, 'Concerns', 'ada')
  await expectAccessible(page)
  await dialog(page).getByRole('button', { name: 'Post' }).click()
  const answer = page.getByRole('article', { name: 'Post of operator' })
  await answer.getByText('for ada').waitFor()
  await settled(page)
  await screenshot(page, 'team-blackboard')
  await answer.getByRole('button', { name: 'Archive' }).click()
  await answer.waitFor({ state: 'detached' })
  await choose(page, 'Type', 'Directive')
  await page.getByText('No post fits these filters.').waitFor()

  await openPart(person, 'Files 1')
  await page.getByRole('button', { name: 'Reserve' }).click()
  await dialog(page).getByRole('textbox', { name: 'Files' }).fill('sails/main.txt')
  await dialog(page).getByRole('button', { name: 'Reserve' }).click()
  await page.getByText('2 reservations overlap. Both sides were told.').waitFor()
  const mine = page.getByRole('article', { name: 'sails/main.txt' })
  await mine.getByText('ada: sails/** (seams)').waitFor()
  await expectAccessible(page)
  await mine.getByRole('button', { name: 'Release' }).click()
  await mine.waitFor({ state: 'detached' })
  s.gate('seam').open()
  // It ends with the task.
  await page.getByText('Nothing is reserved').waitFor()

  await openPart(person, 'Swarms')
  await page.getByRole('button', { name: 'Create a swarm' }).click()
  await dialog(page).getByRole('textbox', { name: 'Name' }).fill('divers')
  await dialog(page).getByRole('button', { name: 'Create' }).click()
  const swarm = page.getByRole('article', { name: 'divers' })
  await swarm.getByText('0 of 5 members').waitFor()
  await s.crew.add('dora', { swarm_id: 'divers' })
  await swarm.getByText('dora').waitFor()
  await settled(page)
  await screenshot(page, 'team-swarms')
  await expectAccessible(page)
  await swarm.getByRole('button', { name: 'Write to all…' }).click()
  await dialog(page).getByText('To dora; it wakes.').waitFor()
  await dialog(page).getByRole('textbox', { name: 'Message' }).fill('Look at the hull')
  await dialog(page).getByRole('button', { name: 'Send' }).click()
  await eventually('dora was told', async () => s.crew.told().some(({ body }) => body === 'Look at the hull'))
  await swarm.getByRole('button', { name: 'Kill…' }).click()
  await dialog(page)
    .getByText(/1 member is dismissed: dora/)
    .waitFor()
  await dialog(page).getByRole('button', { name: 'Kill' }).click()
  await page.getByText('1 swarm ended').waitFor()
  await member(page, 'dora').waitFor({ state: 'detached' })
  expect((await s.fleet.call<{ members: object[] }>('get_team', { team_id: s.crew.team.id })).members).toHaveLength(2)
})

test('on a phone every part fits, a task is taken there, and the members have a part of their own', async () => {
  const s = await aCrew()
  await s.task('Swab the deck')
  await s.fleet.call('blackboard_post', {
    team_id: s.crew.team.id,
    message_type: 'directive',
    payload: 'Ship shape',
    priority: 'critical',
  })
  await s.fleet.call('team_claim', {
    team_id: s.crew.team.id,
    file: 'a/very/long/folder/**/with-an-unbreakable-name-that-goes-on.txt',
  })
  await s.fleet.call('team_handoff', { team_id: s.crew.team.id, to: 'ada', context: 'The deck is half clean.' })
  await s.fleet.call('swarm_create', { team_id: s.crew.team.id, name: 'divers' })
  const person = await aPerson(s.fleet, { size: 'phone' })
  const { page } = person
  await person.visit(s.at('tasks'))
  await act(page, 'Swab the deck', 'Take it')
  await taskIn(page, 'Waiting', 'Swab the deck').getByText('operator', { exact: true }).waitFor()
  for (const part of ['Tasks', 'Members', 'Blackboard', 'Checkpoints', 'Swarms', 'Files', 'Requests', 'Mail']) {
    await openPart(person, part)
    await page.getByRole('heading', { level: 2 }).first().waitFor()
    await settled(page)
    await screenshot(page, `team-${part.toLowerCase()}-phone`)
    await expectAccessible(page)
    expect(await isAsWideAsTheScreen(page), part).toBe(true)
  }
  // Its number arrives after the tab, and makes those before it wider.
  await person.visit(s.at('requests'))
  await expectActiveTabInView(page)
})

test('whoever may only look is offered nothing, and no costs are shown to whoever may not see them', async () => {
  const s = await aCrew()
  await s.task('Swab the deck')
  await s.fleet.call('blackboard_post', { team_id: s.crew.team.id, message_type: 'status', payload: 'Ship shape' })
  await s.fleet.call('team_claim', { team_id: s.crew.team.id, file: 'deck/**' })
  await s.fleet.call('team_handoff', { team_id: s.crew.team.id, to: 'ada', context: 'The deck is half clean.' })
  await s.fleet.call('swarm_create', { team_id: s.crew.team.id, name: 'divers' })
  const as = async (name: string, role: string) => {
    const grants = [{ role, project_id: s.project.id }]
    const { invitation } = await s.fleet.call<{ invitation: { url: string } }>('invite_person', { name, grants })
    return aPerson(s.fleet, { link: invitation.url })
  }
  const monitor = await as('Mona', 'monitor')
  await monitor.visit(s.at('mail'))
  await monitor.page.getByText(/\$0\.00 spent/).waitFor()
  for (const part of ['Mail', 'Tasks', 'Blackboard', 'Checkpoints', 'Swarms', 'Files', 'Requests']) {
    await openPart(monitor, part)
    await monitor.page.getByRole('heading', { level: 2, name: part === 'Files' ? 'Reserved files' : part }).waitFor()
    await settled(monitor.page)
    const offered = await monitor.page.locator('.team button').allInnerTexts()
    const acts = offered.filter(words => words && !/^(All |Any|To anybody|Whole team|Read and unread)/.test(words))
    expect(acts, part).toEqual([])
  }
  const worker = await as('Cleo', 'worker')
  await worker.visit(s.at('tasks'))
  await act(worker.page, 'Swab the deck', 'Take it')
  await taskIn(worker.page, 'Waiting', 'Swab the deck').getByText('Cleo', { exact: true }).waitFor()
  expect(await worker.page.getByText(/spent/).count()).toBe(0)
  await worker.page.getByRole('button', { name: 'New task' }).click()
  await dialog(worker.page).getByRole('textbox', { name: 'Title' }).waitFor()
  expect(await worker.page.getByRole('combobox', { name: 'Member' }).count()).toBe(0)
  await worker.page.keyboard.press('Escape')
  await openPart(worker, 'Requests')
  await worker.page.getByRole('button', { name: 'Ask for a member' }).click()
  await dialog(worker.page).getByRole('textbox', { name: 'Its first task' }).fill('Help me')
  await dialog(worker.page).getByRole('button', { name: 'Ask' }).click()
  const request = worker.page.getByRole('article', { name: 'Worker' })
  await request.getByText('Needs a decision').waitFor()
  await request.getByRole('button', { name: 'Cancel the request' }).click()
  await request.getByText('Cancelled', { exact: true }).waitFor()
})
