import * as z from 'zod'
import { SideProcess } from '../domain/records/side-process.ts'

export const ProcessView = SideProcess.omit({ process: true, stopping: true, run: true }).extend({
  pid: z.number().int().nullable(),
  ending: z.boolean(),
})
export type ProcessView = z.infer<typeof ProcessView>

export function processView({ process, stopping, run, ...shown }: SideProcess): ProcessView {
  return { ...shown, pid: process?.pid ?? null, ending: stopping !== null && shown.status !== 'ended' }
}
