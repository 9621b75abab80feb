import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freePort, type PostgresServer, rawly, startPostgres } from '../../src/store/postgres/server.testkit.ts'
import { CLIENTS } from '../clients/pinned.mjs'
import { aVolume, build, type Container, filesOf, type Image, type Started, start } from './container.ts'
import { blocksOfTheGuide, compose, probesOf, statefulSet } from './files.ts'

const SCRIPT_OF_TWO_HALVES = 'touch ~/begun; until [ -e ~/go ]; do sleep 0.1; done; echo second > second.txt'

/** The image is built as its Dockerfile says, which takes minutes and needs root: npm run test:deploy. */
describe.skipIf(!process.env.FLEET_TEST_DEPLOY)('the image', { timeout: 180_000 }, () => {
  let folder: string
  let image: Image
  let root: string
  let port: number
  const running = new Set<Container>()
  const cleanUps: (() => unknown)[] = []

  beforeAll(() => {
    image = build('deploy/Dockerfile', 'flotilla')
    const files = filesOf('flotilla')
    root = files.root
    cleanUps.push(files.remove)
  }, 1_500_000)
  afterAll(() => {
    for (const clean of cleanUps) clean()
  })
  beforeEach(async () => {
    // Not in /tmp: a container has its own.
    folder = mkdtempSync('/var/tmp/flotilla-image-')
    chmodSync(folder, 0o755)
    port = await freePort()
  })
  afterEach(async () => {
    for (const container of running) await container.kill()
    running.clear()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })

  /** Every port is one that is free here. */
  const ours = (command: string[]): string[] => command.map(each => (each === '3847' ? String(port) : each))
  const begin = (started: Started): Container => {
    const container = start(root, image, { ...started, command: started.command && ours(started.command) }, folder)
    running.add(container)
    return container
  }
  const untilHealthy = (container: Container) =>
    expect.poll(() => container.run(...image.health).code, { timeout: 60_000, interval: 500 }).toBe(0)
  const done = (container: Container, ...program: string[]): string => {
    const { code, said } = container.run(...program)
    expect([program.join(' '), code, said]).toEqual([program.join(' '), 0, said])
    return said
  }
  const inShell = (container: Container, script: string): string => done(container, 'sh', '-ec', script)
  const statusOf = (container: Container, title: string): string | undefined =>
    JSON.parse(done(container, 'fleet', 'list', '--json')).missions.find(
      (each: { title: string }) => each.title === title,
    )?.status
  const untilLanded = (container: Container, title: string) =>
    expect.poll(() => statusOf(container, title), { timeout: 60_000, interval: 500 }).toBe('done')

  const LISTENING = ['up', '--host', '0.0.0.0', '--port', '3847', '--allow-insecure']
  const A_REPOSITORY = `
    mkdir -p repositories && cd repositories && git init -q -b main bakery && cd bakery
    git -c user.name=You -c user.email=you@example.org commit -q --allow-empty -m start
    fleet project add . --landing auto`
  const theWork = (container: Container): string[] =>
    inShell(container, 'cd repositories/bakery && git fsck --strict 2>&1 >/dev/null; git log --format=%s')
      .trim()
      .split('\n')

  /** Lands one mission and begins another. */
  function work(container: Container): void {
    inShell(container, A_REPOSITORY)
    const first = inShell(container, `cd repositories/bakery && fleet run --agent shell 'echo first > first.txt'`)
    expect(first).toContain('landed as')
    inShell(
      container,
      `cd repositories/bakery && fleet run --detach --title second --agent shell '${SCRIPT_OF_TWO_HALVES}'
       until [ -e ~/begun ]; do sleep 0.1; done`,
    )
  }

  async function expectAllLanded(container: Container): Promise<void> {
    inShell(container, 'touch ~/go')
    await untilLanded(container, 'second')
    expect(theWork(container)).toEqual(['second', 'echo first > first.txt', 'start'])
    expect(inShell(container, 'cd repositories/bakery && git status --short && cat *.txt')).toBe('first\nsecond\n')
    expect(inShell(container, 'fleet doctor')).toMatch(/✓ store /)
  }

  test('runs as a user without rights, and refuses by itself to listen where a token would travel unencrypted', async () => {
    const container = begin({ name: 'one', mounts: { '/data': { from: aVolume(join(folder, 'data'), image) } } })
    await expect.poll(() => container.said(), { timeout: 30_000 }).toContain('would travel unencrypted')
    expect(image.user).toBe('1000:1000')
    expect(image.volumes).toEqual(['/data'])
  })

  test('is killed while an agent works: another container with the same volume and name loses nothing', async () => {
    const data = aVolume(join(folder, 'data'), image)
    const started = { name: 'one', command: LISTENING, mounts: { '/data': { from: data } } }
    const first = begin(started)
    await untilHealthy(first)
    expect(inShell(first, 'id -u; hostname; ps -o comm= 1')).toBe('1000\none\ntini\n')
    work(first)
    await first.kill()
    const second = begin(started)
    await untilHealthy(second)
    await expectAllLanded(second)
    inShell(second, 'fleet pause && fleet backup fleet.tar.gz && fleet restore fleet.tar.gz --home restored')
    expect(inShell(second, 'fleet list --home restored')).toContain('second')
    expect(await second.stop()).toBe(0)
  })

  test('with another name, it leaves the work of the first to that machine until somebody claims it', async () => {
    const mounts = { '/data': { from: aVolume(join(folder, 'data'), image) } }
    const first = begin({ name: 'one', command: LISTENING, mounts })
    await untilHealthy(first)
    work(first)
    await first.kill()
    const second = begin({ name: 'two', command: LISTENING, mounts })
    await untilHealthy(second)
    const host = /fleet host claim (\w+)/.exec(inShell(second, 'fleet status'))?.[1]
    expect(statusOf(second, 'second')).toBe('running')
    done(second, 'fleet', 'host', 'claim', host!)
    await expectAllLanded(second)
  })

  test('a second container on the volume of one that runs ends, and harms nothing', async () => {
    const mounts = { '/data': { from: aVolume(join(folder, 'data'), image) } }
    const first = begin({ name: 'one', command: LISTENING, mounts })
    await untilHealthy(first)
    work(first)
    const second = begin({ name: 'one', command: LISTENING, mounts })
    await expect.poll(() => second.said(), { timeout: 30_000 }).toContain('already up')
    await expectAllLanded(first)
  })

  test('a repository of the machine, mounted at the path it has there', async () => {
    const repository = aVolume(join(folder, 'website'), image)
    const mounts = { '/data': { from: aVolume(join(folder, 'data'), image) }, [repository]: { from: repository } }
    const container = begin({ name: 'one', command: LISTENING, mounts })
    await untilHealthy(container)
    inShell(
      container,
      `cd ${repository} && git init -q -b main
       git -c user.name=You -c user.email=you@example.org commit -q --allow-empty -m start
       git config --global user.name Somebody && git config --global user.email somebody@example.org
       fleet project add . --landing auto && fleet run --agent shell 'echo made > made.txt'`,
    )
    const outside = execFileSync('git', ['-c', 'safe.directory=*', '-C', repository, 'log', '--format=%an: %s'])
    expect(String(outside)).toBe('Somebody: echo made > made.txt\nYou: start\n')
    expect(inShell(container, 'fleet project list --json')).toContain(`"path": "${repository}"`)
  })

  describe('with PostgreSQL', () => {
    let postgres: PostgresServer
    beforeEach(async () => {
      postgres = await startPostgres()
      // As the image of PostgreSQL makes them for the names in compose.yaml.
      await rawly(postgres.url, 'CREATE DATABASE fleet')
    }, 60_000)
    afterEach(() => postgres.remove())

    const aSecret = (url: string, mode: number, group: number): string => {
      mkdirSync(join(folder, 'secrets'), { mode: 0o700 })
      const file = join(folder, 'secrets', 'fleet-store')
      writeFileSync(file, `${url}\n`)
      chmodSync(file, mode)
      chownSync(file, 0, group)
      return file
    }
    const answer = async (path: string): Promise<number> => (await fetch(`http://127.0.0.2:${port}${path}`)).status

    test('as compose.yaml starts it: work survives the database and the container', { timeout: 300_000 }, async () => {
      const { fleet } = compose().services
      const from = aSecret(`postgresql://fleet@postgres:${postgres.port}/fleet?sslmode=disable`, 0o644, 0)
      const started: Started = {
        name: fleet.hostname!,
        command: fleet.command,
        env: fleet.environment,
        mounts: {
          [fleet.volumes[0]!.split(':')[1]!]: { from: aVolume(join(folder, 'data'), image) },
          [`/run/secrets/${fleet.secrets[0]}`]: { from, readOnly: true },
        },
      }
      const first = begin(started)
      await untilHealthy(first)
      expect(inShell(first, 'fleet status')).toContain('PostgreSQL')
      work(first)
      await postgres.crash()
      await expect.poll(() => first.run(...image.health).code, { timeout: 30_000 }).toBe(1)
      await postgres.start()
      await untilHealthy(first)
      await first.kill()
      const second = begin(started)
      await untilHealthy(second)
      await expectAllLanded(second)
      expect(await second.stop()).toBe(0)
    })

    test('as Kubernetes starts it: with nothing to write to but its volumes', { timeout: 300_000 }, async () => {
      const { spec } = statefulSet().spec.template
      const [container] = spec.containers
      // The kubelet gives the files of a secret to the group of the pod.
      const from = aSecret(`postgresql://fleet@postgres:${postgres.port}/fleet?sslmode=disable`, 0o440, 1000)
      expect(spec.securityContext).toMatchObject({ runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 })
      const pathOf = (name: string) => container.volumeMounts.find(each => each.name === name)!.mountPath
      const started: Started = {
        name: 'flotilla-0',
        command: container.args,
        env: Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
        readOnlyRoot: container.securityContext.readOnlyRootFilesystem,
        mounts: {
          [pathOf('data')]: { from: aVolume(join(folder, 'data'), image) },
          [`${pathOf('store')}/url`]: { from, readOnly: true },
        },
      }
      const first = begin(started)
      for (const { httpGet } of probesOf(container))
        await expect.poll(() => answer(httpGet.path).catch(String), { timeout: 60_000 }).toBe(200)
      expect(first.run('sh', '-c', 'touch /opt/flotilla/x').code).not.toBe(0)
      work(first)
      await postgres.crash()
      await expect.poll(() => answer(container.readinessProbe.httpGet.path), { timeout: 30_000 }).toBe(503)
      // No reason to end the agents.
      expect(await answer(container.livenessProbe.httpGet.path)).toBe(200)
      await postgres.start()
      await expect.poll(() => answer(container.readinessProbe.httpGet.path), { timeout: 30_000 }).toBe(200)
      expect(await first.stop()).toBe(0)
      const second = begin(started)
      await untilHealthy(second)
      await expectAllLanded(second)
    })
  })

  test('the image of the guide has Claude Code, and the fleet finds it', { timeout: 600_000 }, () => {
    const [text] = blocksOfTheGuide('dockerfile')
    const file = join(folder, 'Dockerfile')
    writeFileSync(file, text!.replace('claude-code', `claude-code@${CLIENTS.claude.version}`))
    build(file, 'flotilla-with-claude')
    const files = filesOf('flotilla-with-claude')
    cleanUps.push(files.remove)
    const claude = execFileSync('chroot', ['--userspec=1000:1000', files.root, 'claude', '--version'], {
      encoding: 'utf8',
      env: { ...image.env, HOME: '/tmp' },
    })
    expect(claude).toContain(CLIENTS.claude.version)
  })
})
