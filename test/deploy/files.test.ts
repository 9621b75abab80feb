import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { makeProgram } from '../../src/cli/program.ts'
import { isSettingVariable } from '../../src/config/sources.ts'
import { aFleet, ROOT } from '../kit/fleet.ts'
import {
  blocksOfTheGuide,
  compose,
  GUIDE,
  instructions,
  type KubernetesService,
  probesOf,
  read,
  statefulSet,
} from './files.ts'

const folder = mkdtempSync(join(tmpdir(), 'flotilla-deploy-'))
const cleanUps = [() => rmSync(folder, { recursive: true, force: true })] as (() => unknown)[]
afterAll(async () => {
  for (const clean of cleanUps) await clean()
})

const PORT = 3847
const { fleet, postgres } = compose().services
const pod = statefulSet().spec.template.spec
const [container] = pod.containers
const image = JSON.parse(instructions('CMD').at(-1)!) as string[]

test.each([
  ['the image', image],
  ['compose.yaml', fleet.command],
  ['Kubernetes', container.args],
])('%s starts fleet up with options that it has, at the port that is published', (_, [up, ...options]) => {
  expect(up).toBe('up')
  const command = makeProgram('up').commands.find(each => each.name() === 'up')!
  const { unknown, operands } = command.parseOptions(options)
  expect([unknown, operands]).toEqual([[], []])
  expect(command.opts()).toMatchObject({ host: '0.0.0.0', port: PORT })
})

test('every port is this one', () => {
  expect(instructions('EXPOSE')).toEqual([String(PORT)])
  expect(fleet.ports).toEqual([`127.0.0.1:${PORT}:${PORT}`])
  expect(container.ports).toEqual([{ name: 'http', containerPort: PORT }])
  const { spec }: KubernetesService = parse(read('kubernetes/service.yaml'))
  expect(spec.ports).toEqual([{ name: 'http', port: PORT, targetPort: 'http' }])
  expect(probesOf(container).map(({ httpGet }) => httpGet.port)).toEqual(['http', 'http', 'http'])
})

test('every variable is one that the program reads', () => {
  const named = [
    ...Array.from(
      instructions('ENV')
        .join(' ')
        .matchAll(/(\w+)=/g),
      ([, name]) => name!,
    ),
    ...Object.keys(fleet.environment),
    ...container.env.map(({ name }) => name),
  ]
  const ours = named.filter(name => !['PATH', 'HOME'].includes(name))
  expect(ours.toSorted()).toEqual(['FLEET_HOME', 'FLEET_STORE_FILE', 'FLEET_STORE_FILE'])
  const sources = ['src/platform/home.ts', 'src/config/store-elsewhere.ts'].map(file =>
    readFileSync(join(ROOT, file), 'utf8'),
  )
  for (const name of ours)
    expect([name, isSettingVariable(name) || sources.join().includes(`env.${name}`)]).toEqual([name, true])
})

test('the health check is a command, and a server answers the probes without a token', async () => {
  const health = JSON.parse(instructions('HEALTHCHECK')[0]!.split('CMD ')[1]!)
  expect(health).toEqual(['fleet', 'health'])
  expect(makeProgram('health').commands.map(each => each.name())).toContain('health')
  const kit = await aFleet()
  cleanUps.push(() => kit.remove())
  const { url } = await kit.start()
  const paths = probesOf(container).map(({ httpGet }) => httpGet.path)
  expect(paths).toEqual(['/health', '/ready', '/health'])
  for (const path of paths) expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
})

test('what is copied into the image is there', () => {
  const sources = instructions('COPY')
    .filter(each => !each.startsWith('--from'))
    .flatMap(each => each.split(/\s+/).slice(0, -1))
  expect(sources.length).toBeGreaterThan(8)
  for (const file of sources) expect([file, existsSync(join(ROOT, file))]).toEqual([file, true])
  // Everything that a commit has at the top is either in the image or known not to be.
  expect(
    readdirSync(ROOT).filter(name => /^(src|web|bin|scripts|docs)$/.test(name) && !sources.includes(name)),
  ).toEqual([])
})

test('every volume is where the image has its data, and every secret where the program is told to look', () => {
  expect(instructions('VOLUME')).toEqual(['/data'])
  expect(instructions('USER').at(-1)).toBe(`${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`)
  expect(fleet.volumes).toEqual(['fleet:/data'])
  expect(Object.keys(compose().volumes).toSorted()).toEqual(['fleet', 'postgres'])
  expect(fleet.secrets.map(name => `/run/secrets/${name}`)).toEqual([fleet.environment.FLEET_STORE_FILE])
  expect(postgres.secrets.map(name => `/run/secrets/${name}`)).toEqual([postgres.environment.POSTGRES_PASSWORD_FILE])
  expect(Object.keys(compose().secrets).toSorted()).toEqual([...fleet.secrets, ...postgres.secrets].toSorted())
  expect(existsSync(join(ROOT, 'deploy', fleet.build!.context, fleet.build!.dockerfile))).toBe(true)
  const { volumeClaimTemplates } = statefulSet().spec
  const there = [...pod.volumes.map(({ name }) => name), ...volumeClaimTemplates.map(({ metadata }) => metadata.name)]
  expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(there.toSorted())
  const mountOf = (path: string) => container.volumeMounts.find(({ mountPath }) => path.startsWith(mountPath))?.name
  expect([mountOf('/data'), mountOf('/tmp'), mountOf(container.env[0]!.value)]).toEqual(['data', 'tmp', 'store'])
})

test('the objects of Kubernetes name each other', () => {
  const { spec } = statefulSet()
  const service: KubernetesService = parse(read('kubernetes/service.yaml'))
  expect(spec.serviceName).toBe(service.metadata.name)
  expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels)
  expect(service.spec.selector).toEqual(spec.template.metadata.labels)
  // Two pods would be two machines, of which only one has the files.
  expect(spec.replicas).toBe(1)
  const { resources } = parse(read('kubernetes/kustomization.yaml'))
  const files = readdirSync(join(ROOT, 'deploy/kubernetes')).filter(name => name !== 'kustomization.yaml')
  expect(resources.toSorted()).toEqual(files.toSorted())
})

test('the guide names the files, and says the secrets as they are used', () => {
  for (const name of ['deploy/Dockerfile', 'deploy/compose.yaml', 'deploy/kubernetes', 'npm run test:deploy'])
    expect(GUIDE).toContain(name)
  const commands = blocksOfTheGuide('sh').join('\n')
  for (const { file } of Object.values(compose().secrets))
    expect(commands).toContain(`> deploy/${file.replace('./', '')}`)
  const store = pod.volumes.find(({ name }) => name === 'store')!.secret!
  expect(commands).toContain(`kubectl create secret generic ${store.secretName} --from-file=url=`)
  expect(container.env[0]!.value.endsWith('/url')).toBe(true)
  expect(read('.gitignore')).toContain('secrets/')
})

const FORMS = process.env.FLEET_TEST_FORMS
const WHY_SKIPPED = 'npm run test:deploy fetches what knows the forms'

const judged = (program: string, ...args: string[]): { code: number | null; said: string } => {
  const { status, stdout, stderr } = spawnSync(join(FORMS!, program), args, { encoding: 'utf8' })
  return { code: status, said: stdout + stderr }
}

test('compose.yaml has the form of Compose', ({ skip }) => {
  if (!FORMS) return skip(WHY_SKIPPED)
  const check = (file: string) => judged('check-jsonschema', '--builtin-schema=vendor.compose-spec', file)
  expect(check(join(ROOT, 'deploy/compose.yaml'))).toMatchObject({ code: 0 })
  const wrong = join(folder, 'compose.yaml')
  writeFileSync(wrong, read('compose.yaml').replace('stop_grace_period', 'stop_graceperiod'))
  expect(check(wrong).code).toBe(1)
})

test('what kustomize makes has the form of Kubernetes, without unknown fields', ({ skip }) => {
  const kustomize = spawnSync('kubectl', ['kustomize', join(ROOT, 'deploy/kubernetes')], { encoding: 'utf8' })
  if (!FORMS || kustomize.error) return skip(FORMS ? 'kubectl is not here' : WHY_SKIPPED)
  expect([kustomize.status, kustomize.stderr]).toEqual([0, ''])
  expect(kustomize.stdout).toContain('image: registry.example.com/flotilla:latest')
  const check = (text: string) => {
    const file = join(folder, 'objects.yaml')
    writeFileSync(file, text)
    return judged('kubernetes-validate', '--strict', file)
  }
  expect(check(kustomize.stdout)).toMatchObject({ code: 0 })
  expect(check(kustomize.stdout.replace('readinessProbe', 'readynessProbe')).code).toBe(1)
})
