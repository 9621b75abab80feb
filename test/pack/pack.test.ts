import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NODE, ROOT } from '../kit/fleet.ts'

const COMPILERS = /^(cc|c\+\+|[cg]pp|gmake|make|cmake|ninja|ld|as|python.*|pypy.*|.*(gcc|g\+\+|clang).*)$/
const MAY_BE_PACKED = /^(package\.json|LICENSE|README\.md|CHANGELOG\.md|(bin|dist|deploy|docs)\/.+)$/

/** It installs from the registry, which takes a while, so only .ci/run asks for it. */
describe.skipIf(!process.env.FLEET_TEST_PACK)('the packed program', () => {
  let root: string
  let tarball: string
  let packed: string[]
  let environment: NodeJS.ProcessEnv
  let npmEnvironment: NodeJS.ProcessEnv

  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-pack-')))
    for (const folder of ['bin', 'home', 'prefix', 'tmp']) mkdirSync(join(root, folder))
    toolsWithoutCompiler(join(root, 'bin'))
    npmEnvironment = { ...outsideNpm(process.env), PATH: join(root, 'bin') }
    environment = { PATH: join(root, 'bin'), HOME: join(root, 'home'), TMPDIR: join(root, 'tmp'), LANG: 'C.UTF-8' }
    const [pack] = JSON.parse(npm('pack', '--json', `--pack-destination=${root}`))
    tarball = join(root, pack.filename)
    packed = pack.files.map((file: { path: string }) => file.path)
  })
  afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

  test('holds the program, its pages and its licence, and nothing else', () => {
    expect(packed).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'bin/fleet.js',
        'dist/fleet.cjs',
        'dist/THIRD-PARTY-LICENSES.txt',
        'dist/plugin.d.ts',
        'dist/web/index.html',
        'dist/web/licenses.md',
      ]),
    )
    expect(packed.filter(path => !MAY_BE_PACKED.test(path))).toEqual([])
    // The names of the page's files contain hashes.
    const named = packed.filter(path => !path.startsWith('dist/web/assets/'))
    expect(named.filter(path => /test|(?<!\/plugin\.d)\.ts$|\.map$/.test(path))).toEqual([])
  })

  test('has the licence text of every package that is bundled into the server or the page', async () => {
    const read = (path: string) =>
      execFileSync('tar', ['-xzOf', tarball, `package/${path}`], { encoding: 'utf8', maxBuffer: 2 ** 26 })
    const server = read('dist/THIRD-PARTY-LICENSES.txt')
    const { metafile } = await build({
      ...{ absWorkingDir: ROOT, entryPoints: ['src/cli/main.ts'], outdir: root, write: false, metafile: true },
      ...{ bundle: true, platform: 'node', format: 'cjs', external: EXTERNAL, logLevel: 'error' },
    })
    const folders = new Set(
      Object.keys(metafile.inputs).flatMap(path => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? []),
    )
    expect(folders.size).toBeGreaterThan(50)
    for (const folder of folders) {
      const { name, version } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
      expect(server).toContain(`${name} ${version} (`)
      for (const file of readdirSync(join(ROOT, folder)).filter(each => /^(licen[cs]e|notice)/i.test(each)))
        expect([name, server.includes(readFileSync(join(ROOT, folder, file), 'utf8').trim())]).toEqual([name, true])
    }
    const page = read('dist/web/licenses.md').split(/^## /m).slice(1)
    expect(page.length).toBeGreaterThan(20)
    expect(page.filter(each => each.length < 500).map(each => each.split('\n', 1)[0])).toEqual([])
  })

  test('needs nothing at run time but SQLite and a pty', () => {
    const { dependencies, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(Object.keys(dependencies)).toEqual(['@lydell/node-pty', 'better-sqlite3'])
    expect(license).toBe('Apache-2.0')
  })

  test('installs where there is no compiler, and works there', { timeout: 300_000 }, async () => {
    npm('install', `--prefix=${join(root, 'prefix')}`, '--omit=dev', '--no-audit', '--no-fund', tarball)
    const modules = join(root, 'prefix/node_modules')
    expect(
      readdirSync(modules)
        .filter(name => !name.startsWith('.'))
        .sort(),
    ).toEqual(['@lydell', 'better-sqlite3', 'flotilla', 'node-addon-api'])
    expect(existsSync(join(modules, 'better-sqlite3/build'))).toBe(false)

    expect(fleet('--version').trim()).toBe(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version)
    const npx = execFileSync('npx', ['--offline', 'flotilla', '--version'], {
      cwd: join(root, 'prefix'),
      env: environment,
    })
    expect(String(npx)).toBe(fleet('--version'))
    // The terminal in the browser: its native part is there, and works.
    const pty = `require('@lydell/node-pty').spawn('echo', ['a', 'terminal'], {}).onData(text => process.stdout.write(text))`
    const printed = execFileSync(NODE, ['-e', pty], {
      cwd: join(modules, 'flotilla'),
      env: environment,
      encoding: 'utf8',
    })
    expect(printed).toContain('a terminal')
    expect(fleet('demo')).toContain('7 of 8 missions landed')
    expect(fleet('up', '--detach', '--port=0')).toContain('is up at http://127.0.0.1:')
    expect(fleet('status')).toContain('The fleet is up')
    const page = await fetchPage(fleet('up', '--detach'))
    expect(page).toContain('<div id="root">')
    expect(page).toMatch(/src="\/assets\/index-[\w-]+\.js"/)
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'healthcheck' } }
    expect(fleetHearing(`${JSON.stringify(call)}\n`, 'mcp')).toContain('ok')
    expect(fleet('down')).toContain('The fleet is down.')
  })

  const npm = (...args: string[]): string =>
    execFileSync('npm', args, {
      cwd: ROOT,
      env: npmEnvironment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })

  const fleet = (...args: string[]): string => fleetHearing('', ...args)
  const fleetHearing = (input: string, ...args: string[]): string =>
    execFileSync(join(root, 'prefix/node_modules/.bin/fleet'), args, {
      cwd: root,
      env: environment,
      encoding: 'utf8',
      input,
    })
})

/** The page at the printed address. */
async function fetchPage(said: string): Promise<string> {
  const link = /https?:\/\/\S+\/sign-in\S*/.exec(said)![0]
  return (await fetch(new URL('/', link))).text()
}

/** All tools on this machine's PATH except compilers, with the pinned Node as the only Node. */
function toolsWithoutCompiler(folder: string): void {
  symlinkSync(NODE, join(folder, 'node'))
  for (const directory of process.env
    .PATH!.split(delimiter)
    .filter(path => !path.includes('node_modules') && existsSync(path))) {
    for (const name of readdirSync(directory)) {
      const link = join(folder, name)
      if (!COMPILERS.test(name) && !existsSync(link)) symlinkSync(realpathSync(join(directory, name)), link)
    }
  }
}

/** What scripts/build.mjs leaves out. */
const EXTERNAL = [
  '@lydell/node-pty',
  'better-sqlite3',
  'pg-cloudflare',
  'pg-native',
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
]

/** Removes the variables that npm sets for its scripts, because another npm would take them for settings. */
function outsideNpm(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => !/^(npm_|NODE_OPTIONS|FLEET_|VITEST)/.test(name)),
  )
}
