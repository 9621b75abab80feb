import { ask, element } from './dom.js'

const SHOWN = 50
const REFRESH_MS = 1000
const RECONNECT_MS = 1500
const GROUPS = {
  person: ['needs_input', 'review'],
  running: ['running', 'landing'],
  waiting: ['queued', 'waiting', 'draft'],
  ended: ['done', 'failed', 'cancelled'],
}
const NOTHING = {
  person: 'Nothing waits for you.',
  running: 'No agent is at work.',
  waiting: 'Nothing is queued.',
  ended: 'Nothing has ended yet.',
}
const TONES = { done: 'good', failed: 'bad', needs_input: 'warn', review: 'warn', running: 'good', landing: 'good' }
const byId = id => document.getElementById(id)

async function refresh() {
  const groups = Object.keys(GROUPS)
  const [{ projects }, ...lists] = await Promise.all([ask('/api/projects?limit=500'), ...groups.map(missionsIn)])
  const names = new Map(projects.map(project => [project.id, project.name]))
  const isEmpty = lists.every(list => list.missions.length === 0)
  byId('begin').hidden = !isEmpty
  byId('board').hidden = isEmpty
  for (const [at, group] of groups.entries()) show(group, lists[at], names)
  const running = lists[groups.indexOf('running')].missions.length
  document.title = running ? `(${running}) Flotilla` : 'Flotilla'
}

async function missionsIn(group) {
  const limit = group === 'ended' ? 10 : SHOWN
  const pages = await Promise.all(GROUPS[group].map(status => ask(`/api/missions?status=${status}&limit=${limit}`)))
  const missions = pages.flatMap(page => page.missions)
  if (group !== 'ended') return { missions, more: pages.some(page => page.cursor) }
  const newest = missions.sort((a, b) => endOf(b).localeCompare(endOf(a)))
  return { missions: newest.slice(0, limit), more: false }
}

const endOf = mission => mission.ended_at ?? mission.updated_at

function show(group, { missions, more }, names) {
  const rows = missions.map(mission => row(mission, names.get(mission.project_id)))
  byId(group).replaceChildren(...(rows.length ? rows : [element('li', { class: 'none' }, NOTHING[group])]))
  const count = byId(`${group}-count`)
  if (count) count.textContent = missions.length ? `${missions.length}${more ? '+' : ''}` : ''
}

function row(mission, project) {
  const reasons = [...mission.waits_for.map(reason => reason.text), mission.status_reason?.text]
  const detail = [...new Set(reasons.filter(Boolean))].join(' · ')
  const hint = mission.status_reason?.try
  return element(
    'li',
    {},
    element('span', { class: 'title' }, mission.title),
    element('span', { class: `side dot ${TONES[mission.status] ?? 'faint'}` }, outcome(mission)),
    element(
      'span',
      { class: 'faint' },
      [project, mission.agent, mission.model].filter(Boolean).join(' · '),
      ' ',
      element('code', {}, mission.id.slice(0, 6)),
    ),
    element('span', { class: 'side faint' }, when(mission)),
    detail && element('span', { class: 'detail' }, detail, hint && element('code', {}, `  ${hint}`)),
  )
}

function outcome({ status, result, landed }) {
  if (status !== 'done') return status.replace('_', ' ')
  return landed ? `landed ${landed.commit.slice(0, 8)}` : (result ?? 'done').replace('_', ' ')
}

function when({ status, started_at, ended_at, created_at }) {
  if (ended_at) return `${ago(ended_at)} ago`
  return `for ${ago((status === 'running' && started_at) || created_at)}`
}

function ago(time) {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000))
  if (seconds < 90) return `${seconds} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return seconds < 129600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`
}

async function summarise() {
  const status = await ask('/api/system/status')
  byId('summary').textContent = [`version ${status.version}`, status.paused === true && 'paused']
    .filter(Boolean)
    .join(' · ')
}

// Many events in a row are one refresh; one that comes during a refresh asks for another.
let wanted = false
let busy = false
async function refreshSoon() {
  wanted = true
  if (busy) return
  busy = true
  while (wanted) {
    wanted = false
    await Promise.all([refresh(), summarise()]).then(() => complain(''), complain)
    await pause(REFRESH_MS)
  }
  busy = false
}

function complain(error) {
  const problem = byId('problem')
  problem.hidden = !error
  problem.textContent = error ? String(error.message ?? error) : ''
}

const pause = ms => new Promise(resolve => setTimeout(resolve, ms))

function connection(text, tone) {
  byId('connection').textContent = text
  byId('connection').className = `dot ${tone}`
}

/** Any event is a reason to look again, so what it says need not be read. */
async function follow() {
  for (;;) {
    try {
      const response = await fetch('/api/events/stream')
      if (response.status === 401) location.reload()
      if (!response.ok) throw new Error(`the server answers ${response.status}`)
      connection('live', 'good')
      refreshSoon()
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        if (part.value.includes('data:')) refreshSoon()
      }
    } catch {
      // Said below, and tried again.
    }
    connection('not connected', 'bad')
    await pause(RECONNECT_MS)
  }
}

follow()
// Times on the page grow old without any event.
setInterval(() => document.hidden || refreshSoon(), 30_000)
