import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { archiveOf, bomb, type Entry } from '../../test/kit/archives.ts'
import { unpack } from './unpack.ts'

const MB = 1_000_000

function aPlace(): { file: string; into: string } {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-unpack-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'into'))
  return { file: join(root, 'archive.tar.gz'), into: join(root, 'into') }
}

test('no more is written than the limit says', async () => {
  const { file, into } = aPlace()
  await bomb(file, { name: 'zeros' }, 64)
  await expect(unpack(file, into, { entries: 10, bytes: 20 * MB })).rejects.toThrow('unpacks to more than 0.02 GB')
  expect(readdirSync(into)).toEqual([])
  writeFileSync(file, archiveOf(Array.from({ length: 30 }, (_, n) => ({ name: String(n), content: Buffer.alloc(MB) }))))
  await expect(unpack(file, into, { entries: 100, bytes: 20 * MB })).rejects.toThrow('unpacks to more than')
  const written = readdirSync(into).reduce((sum, name) => sum + statSync(join(into, name)).size, 0)
  expect(written).toBeLessThan(20 * MB)
})

test('no more files and folders are made than the limit says, empty ones too', async () => {
  const { file, into } = aPlace()
  for (const type of ['0', '5']) {
    writeFileSync(file, archiveOf(Array.from({ length: 30 }, (_, n) => ({ name: `${type}-${n}`, type }))))
    await expect(unpack(file, into, { entries: 20, bytes: MB })).rejects.toThrow('more than 20 files and folders')
  }
  expect(readdirSync(into)).toHaveLength(40)
})

test('it reads what tar writes: long names, other letters, every size around a block', async () => {
  const { file, into } = aPlace()
  const from = `${into}-from`
  const deep = `${'deep/'.repeat(25)}${'n'.repeat(95)}`
  const files: Record<string, Buffer> = {
    [deep]: Buffer.from('deep'),
    'späße – 船.txt': Buffer.from('ü'),
    empty: Buffer.alloc(0),
  }
  for (const size of [1, 511, 512, 513, 10_239, 10_240, 700_000]) files[`of-${size}`] = Buffer.alloc(size, 'x')
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(from, name, '..'), { recursive: true })
    writeFileSync(join(from, name), content)
  }
  for (const format of ['gnu', 'pax', 'ustar']) {
    execFileSync('tar', [`--format=${format}`, '-czf', file, '-C', from, '.'])
    const to = join(into, format)
    mkdirSync(to)
    await unpack(file, to, { entries: 100, bytes: 20 * MB })
    for (const [name, content] of Object.entries(files))
      expect([format, name, readFileSync(join(to, name)).equals(content)]).toEqual([format, name, true])
  }
})

const ODD: Record<string, [Entry[], RegExp]> = {
  'a link': [[{ name: 'tasks', type: '2', link: '/tmp' }], /tasks is a link/],
  'a link to write through': [
    [
      { name: 'tasks', type: '2', link: '/tmp' },
      { name: 'tasks/outside', content: 'x' },
    ],
    /tasks is a link/,
  ],
  'a hard link': [[{ name: 'passwd', type: '1', link: '/etc/passwd' }], /passwd is a hard link/],
  'a device': [[{ name: 'zero', type: '3' }], /zero is a device/],
  'a FIFO': [[{ name: 'pipe', type: '6' }], /pipe is a FIFO/],
  'a manifest that is a FIFO': [[{ name: 'manifest.json', type: '6' }], /manifest.json is a FIFO/],
  'a sparse file': [[{ name: 'sparse', type: 'S' }], /sparse is neither a file nor a folder/],
  'an absolute name': [[{ name: '/tmp/outside' }], /is outside the home/],
  'a name that leads out': [[{ name: '../outside' }], /is outside the home/],
  'a name that leads out further in': [[{ name: 'tasks/../../outside' }], /is outside the home/],
  'a name twice': [
    [
      { name: 'notes.txt', content: 'a' },
      { name: './notes.txt', content: 'b' },
    ],
    /notes.txt is in it twice/,
  ],
  'a file below a file': [
    [{ name: 'notes.txt' }, { name: 'notes.txt/below' }],
    /notes.txt is in it twice|cannot be made/,
  ],
  'a name of many kilobytes': [
    [
      { name: 'longlink', type: 'L', content: 'x/'.repeat(9000) },
      { name: 'x', content: '' },
    ],
    /name .*too long/,
  ],
  'a name too long for a disk': [
    [
      { name: 'longlink', type: 'L', content: 'x'.repeat(300) },
      { name: 'x', content: '' },
    ],
    /name .*too long/,
  ],
  'folders too deep': [
    [
      { name: 'longlink', type: 'L', content: 'x/'.repeat(200) },
      { name: 'x', type: '5', content: '' },
    ],
    /too deep/,
  ],
  'a name that is not UTF-8': [[{ name: Buffer.from([0x78, 0xff]) }], /not UTF-8/],
  'a terminal told what to do': [[{ name: 'notes\x1b[2J' }], /control characters/],
}

test.each(Object.keys(ODD))('%s is refused', async what => {
  const { file, into } = aPlace()
  const [entries, because] = ODD[what]!
  writeFileSync(file, archiveOf(entries))
  await expect(unpack(file, into, { entries: 100, bytes: MB })).rejects.toThrow(because)
  expect(readdirSync(join(into, '..')).filter(name => name.includes('outside'))).toEqual([])
})
