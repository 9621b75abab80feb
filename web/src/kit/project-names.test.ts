import { expect, test } from 'vitest'
import { namesOf } from './project-names.ts'

test('projects of one name are told apart by their folders, and others keep their plain names', () => {
  const names = namesOf([
    { id: 'p', name: 'api', path: '/a/api' },
    { id: 'q', name: 'api', path: '/b/api' },
    { id: 'r', name: 'web', path: '/a/web' },
  ])
  expect([...names.values()]).toEqual(['api (/a/api)', 'api (/b/api)', 'web'])
})
