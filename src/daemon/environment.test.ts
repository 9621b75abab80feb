import { expect, test } from 'vitest'
import { environmentForAgents, SMALL_MEMORY } from './environment.ts'

test("agents get a person's settings of the C library, and not the server's own", () => {
  expect(environmentForAgents({ PATH: '/bin', ...SMALL_MEMORY })).toEqual({ PATH: expect.stringContaining('/bin:') })
  expect(environmentForAgents({ MALLOC_ARENA_MAX: '4' })).toMatchObject({ MALLOC_ARENA_MAX: '4' })
})
