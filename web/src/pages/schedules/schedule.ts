import type { Output } from '../../api/client.ts'

export type Schedule = Output<'list_schedules'>['schedules'][number]
