import { expect, test } from 'vitest'
import { folderFor, gitAddress, requireFolderName } from './git-address.ts'

test.each([
  ['https://github.com/you/shop', undefined],
  ['https://git.example.org:8443/you/shop.git', undefined],
  ['ssh://git@git.example.org:2222/you/shop.git', undefined],
  ['git://git.example.org/shop.git', undefined],
  ['git@github.com:you/shop.git', undefined],
  ['build-host:work/shop', undefined],
  ['file:///srv/my%20shop.git', '/srv/my shop.git'],
  ['/srv/shop', '/srv/shop'],
])('%s is an address', (address, folder) => {
  expect(gitAddress(` ${address}\n`)).toEqual({ address, ...(folder && { folder }) })
})

test.each([
  ['', 'not an address'],
  ['shop', 'not an address'],
  ['../shop', 'not an address'],
  ['ext::sh -c touch% /tmp/pwned', 'not an address'],
  ['ext::sh', 'not an address'],
  ['fd::17', 'not an address'],
  ['transport::address', 'not an address'],
  ['--upload-pack=touch /tmp/pwned', 'not an address'],
  ['-oProxyCommand=x:path', 'not an address'],
  ['git@-oProxyCommand=x:path', 'not an address'],
  ['-l@host:path', 'not an address'],
  ['host:-path', 'not an address'],
  ['ssh://-oProxyCommand=x/path', 'not an address'],
  ['ssh://-l@host/path', 'not an address'],
  ['https://host', 'not an address'],
  ['https://host/a\nb', 'not an address'],
  ['http://github.com/you/shop', 'http:// is not supported'],
  ['ftp://host/shop', 'ftp:// is not supported'],
  ['ext://host/shop', 'ext:// is not supported'],
  ['https://me:secret@github.com/you/shop', 'user name or password'],
  ['https://token@github.com/you/shop', 'user name or password'],
  ['ssh://me:secret@host/shop', 'user name or password'],
  ['file://host/srv/shop', 'cannot name a host'],
])('%s is refused', (address, says) => {
  expect(() => gitAddress(address)).toThrow(says)
})

test('a clone gets the name that git would choose', () => {
  expect(folderFor('https://github.com/you/shop.git')).toBe('shop')
  expect(folderFor('git@host:shop/')).toBe('shop')
  expect(folderFor('/srv/my shop')).toBe('my shop')
  expect(() => folderFor('https://host/you/.git')).toThrow('name')
  expect(() => folderFor('https://host/you/..%2F..')).toThrow('name')
  for (const name of ['', '.', '..', '.ssh', '-x', 'a/b', 'a\\b', 'a\0b', 'x'.repeat(201)])
    expect(() => requireFolderName(name)).toThrow('name of a new folder')
})
