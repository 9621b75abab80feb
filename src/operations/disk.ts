import * as z from 'zod'
import { DiskUse, isRecent, lastUse, measureDisk } from '../fleet/disk/use.ts'
import { query } from './operation.ts'

export const disk = [
  query({
    name: 'disk_use',
    may: 'system.inspect',
    mcp: 'system',
    summary: 'Show what worktrees, repositories, transcripts, caches and refs use, in total and per project',
    http: 'GET /api/disk',
    inServer: true,
    input: z.object({
      now: z
        .boolean()
        .default(false)
        .describe(
          'measure now; otherwise figures may be as old as measured_at says, and are measured only if there are none',
        ),
    }),
    output: DiskUse,
    run: async ({ fleet }, { now }) => {
      const last = now ? undefined : lastUse(fleet)
      if (last && (isRecent(last, fleet.now()) || fleet.daemon)) return last
      return (await measureDisk(fleet)) ?? last!
    },
  }),
]
