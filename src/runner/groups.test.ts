import { existsSync, mkdirSync, rmdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { groupsFolder, groupsFolderOf } from './groups.ts'

const DAY_S = 24 * 3600

test.skipIf(!groupsFolder())('a server that starts leaves the empty groups of others, and removes old ones', () => {
  const [fresh, old] = ['fresh', 'old'].map(name => join(groupsFolder()!, `groups-test-${process.pid}_${name}`))
  for (const each of [fresh!, old!]) mkdirSync(each)
  try {
    const long = Date.now() / 1000 - DAY_S - 60
    utimesSync(old!, long, long)
    groupsFolderOf('self')
    expect([existsSync(fresh!), existsSync(old!)]).toEqual([true, false])
  } finally {
    for (const each of [fresh!, old!]) if (existsSync(each)) rmdirSync(each)
  }
})
